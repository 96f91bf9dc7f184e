# Why an object is not ready; "" if it is. The rules are those of kstatus. Sensors run the
# program, and argoperator compiles it for pods. It must not fail: the Sensor would drop
# the event.
#
# There is a definition for each kind with a rule of its own, GROUP_KIND with _ for the
# dots of the group, and core for the group without a name. hole::rule is one of them, or
# readyWhen.

# The first counter of the status that is smaller than a number.
def below(counters; number):
  first(counters as $counter | select((.status[$counter] // 0) < number)
    | "\($counter) is \(.status[$counter] // 0) of \(number)");

def hasCondition(name): any(.status.conditions[]?; .type == name and .status == "True");

def apps_Deployment:
  (.spec.replicas // 1) as $replicas
  | first(
      (select(any(.status.conditions[]?; .type == "Progressing" and .reason == "ProgressDeadlineExceeded"))
        | "its progress deadline is exceeded"),
      below("updatedReplicas", "availableReplicas", "readyReplicas"; $replicas),
      (((.status.replicas // 0) - $replicas) as $surplus | select($surplus > 0) | "\($surplus) old replicas are still there"),
      "");

def apps_StatefulSet:
  (.spec.replicas // 1) as $wanted
  | (.spec.updateStrategy.rollingUpdate.partition // 0) as $held
  | if .spec.updateStrategy.type == "OnDelete" then "" else
      first(
        below("replicas", "readyReplicas"; $wanted),
        below("updatedReplicas"; [$wanted - $held, 0] | max),
        (select($held == 0 and .status.currentRevision != .status.updateRevision) | "its revision is being rolled out"),
        "")
    end;

def apps_DaemonSet:
  if .status.observedGeneration == null then "is not yet observed"
  else first(below("updatedNumberScheduled", "numberAvailable", "numberReady"; .status.desiredNumberScheduled // 0), "") end;

def apps_ReplicaSet: first(below("replicas", "readyReplicas", "availableReplicas"; .spec.replicas // 1), "");

def batch_Job:
  if hasCondition("Failed") then "has failed"
  elif .status.startTime != null or .spec.suspend == true or hasCondition("Complete") then ""
  else "has not started" end;

def core_Pod:
  if .status.phase == "Succeeded" or (.status.phase == "Running" and hasCondition("Ready")) then ""
  else "is \(.status.phase // "Pending") and not ready" end;

def core_PersistentVolumeClaim: if .status.phase == "Bound" then "" else "is not bound" end;

def core_Service:
  if .spec.type == "LoadBalancer" and (.status.loadBalancer.ingress // [] | length) == 0 then "has no load balancer yet"
  else "" end;

def apiextensions_k8s_io_CustomResourceDefinition: if hasCondition("Established") then "" else "is not established" end;

def policy_PodDisruptionBudget: "";

def autoscaling_HorizontalPodAutoscaler: "";

def otherKind:
  if option::reportsStatus and (.status // {}) == {} then "its controller has not reported a status yet"
  else
    [.status.conditions[]? | objects]
    | first(
        (.[] | select(.type == "Ready" and .status != "True") | (.message | strings | select(. != "")) // "is not ready"),
        (.[] | select((.type == "Stalled" or .type == "Reconciling") and .status == "True") | "is \(.type | ascii_downcase)"),
        "")
  end;

def readyWhen: if (try hole::readyWhen catch false) == true then "" else "readyWhen is not met" end;

try (
  if .metadata.deletionTimestamp != null then "is being deleted"
  elif (.status.observedGeneration? // .metadata.generation // 0) < (.metadata.generation // 0) then "its latest change is not yet observed"
  else hole::rule end)
catch "its status cannot be read"
