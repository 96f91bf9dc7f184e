// Calls a hook that is written for Metacontroller's server of functions.
const fs = require('fs');

(async () => {
  const body = JSON.parse(fs.readFileSync(process.env.ARGOPERATOR_REQUEST));
  const answer = await require('./sync.js')({request: {body}});
  if (answer.status !== 200) throw new Error(answer.body);
  fs.writeFileSync(process.env.ARGOPERATOR_RESPONSE, JSON.stringify(answer.body));
})().catch((error) => {
  console.error(error.message);
  process.exit(1);
});
