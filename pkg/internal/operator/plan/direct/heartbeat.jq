# Records on the EventSource that a Sensor received the event of a timer, to the minute, and
# the programs that it subscribed with: see heartbeat.go.

def times: {(annotation::lastReceived): (now / 60 | floor * 60 | todate)};

def subscription: {template: {metadata: {annotations: {(annotation::subscribed): hole::digest}}}};

{go: true,
 call: (
   if option::http then
     {method: "PATCH", path: hole::path, type: "application/merge-patch+json",
      body: ({metadata: {annotations: times}, spec: subscription} | tojson)}
   else
     {operation: "patch",
      manifest: {apiVersion: hole::apiVersion, kind: "EventSource",
                 metadata: {name: hole::name, namespace: hole::namespace, annotations: times}, spec: subscription}}
   end)}
