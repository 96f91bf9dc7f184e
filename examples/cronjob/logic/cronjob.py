"""Starts a Job at the times of a schedule and keeps the last ones of each outcome."""

import datetime
import json
import os

from schedule import Schedule

AT = "batch.example.com/scheduled-at"


def moment(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))


def text(at):
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")


def outcome(job):
    """Complete, Failed, or "" while it runs."""
    for one in job.get("status", {}).get("conditions", []):
        if one["type"] in ("Complete", "Failed") and one["status"] == "True":
            return one["type"]
    return ""


def new_job(cronjob, at):
    spec = cronjob["spec"]
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "%s-%d" % (cronjob["metadata"]["name"], at.timestamp()), "annotations": {AT: text(at)}},
        "spec": {"backoffLimit": 0, "template": {"spec": {
            "restartPolicy": "Never",
            "securityContext": {"runAsNonRoot": True, "runAsUser": 65534, "seccompProfile": {"type": "RuntimeDefault"}},
            "containers": [{
                "name": "job", "image": spec["image"], "command": spec["command"],
                "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
            }],
        }}},
    }


def due(schedule, since, now, deadline):
    """The last time that was missed, or None; those before the deadline are passed over."""
    if deadline is not None:
        since = max(since, now - datetime.timedelta(seconds=deadline))
    missed, at, tries = None, schedule.after(since), 0
    while at is not None and at <= now:
        missed, tries = at, tries + 1
        if tries > 100:
            raise ValueError("more than 100 runs were missed: set startingDeadlineSeconds")
        at = schedule.after(at)
    return missed


def sync(cronjob, jobs, now):
    spec, schedule = cronjob["spec"], Schedule(cronjob["spec"]["schedule"])
    by_age = sorted(jobs.values(), key=lambda job: job["metadata"]["annotations"][AT])
    active = [job for job in by_age if not outcome(job)]
    keep = list(active)
    for ending, limit in (("Complete", "successfulJobsHistoryLimit"), ("Failed", "failedJobsHistoryLimit")):
        ended = [job for job in by_age if outcome(job) == ending]
        keep += ended[len(ended) - spec[limit]:] if spec[limit] else []

    status = {"active": [job["metadata"]["name"] for job in active]}
    last = (cronjob.get("status") or {}).get("lastScheduleTime")
    if last:
        status["lastScheduleTime"] = last
    wanted = [new_job(cronjob, moment(job["metadata"]["annotations"][AT])) for job in keep]
    if spec["suspend"]:
        return {"children": wanted, "status": status}

    since = moment(last or cronjob["metadata"]["creationTimestamp"])
    run = due(schedule, since, now, spec.get("startingDeadlineSeconds"))
    if run and not (active and spec["concurrencyPolicy"] == "Forbid"):
        if spec["concurrencyPolicy"] == "Replace":
            wanted = [job for job in wanted if job["metadata"]["name"] not in status["active"]]
            status["active"] = []
        job = new_job(cronjob, run)
        wanted.append(job)
        status["active"] = status["active"] + [job["metadata"]["name"]]
        status["lastScheduleTime"] = text(run)
    response = {"children": wanted, "status": status}
    following = schedule.after(now)
    if following:
        status["nextScheduleTime"] = text(following)
        response["resyncAfterSeconds"] = (following - now).total_seconds()
    return response


if __name__ == "__main__":
    with open(os.environ["ARGOPERATOR_REQUEST"]) as f:
        request = json.load(f)
    answer = sync(request["parent"], request["children"]["Job.batch/v1"], datetime.datetime.now(datetime.timezone.utc))
    with open(os.environ["ARGOPERATOR_RESPONSE"], "w") as f:
        json.dump(answer, f)
