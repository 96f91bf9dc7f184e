# Records that a Sensor received the event of a timer, and the programs that it subscribed
# with: see heartbeat.go. A worker remembers both; otherwise they are on the EventSource, the
# time to the minute.

def times: {(annotation::lastReceived): (now / 60 | floor * 60 | todate)};

def subscription: {template: {metadata: {annotations: {(annotation::subscribed): hole::digest}}}};

{go: true}
+ if option::stays then {event: {heartbeat: hole::digest, sensor: hole::sensor}} else {call: (
   if option::http then
     {method: "PATCH", path: hole::path, type: "application/merge-patch+json",
      body: ({metadata: {annotations: times}, spec: subscription} | tojson)}
   else
     {operation: "patch",
      manifest: {apiVersion: hole::apiVersion, kind: "EventSource",
                 metadata: {name: hole::name, namespace: hole::namespace, annotations: times}, spec: subscription}}
   end)} end
