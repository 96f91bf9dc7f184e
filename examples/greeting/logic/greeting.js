const fs = require('fs');

const {parent} = JSON.parse(fs.readFileSync(process.env.ARGOPERATOR_REQUEST));
const names = (parent.data?.names || '').split(/\s+/).filter(Boolean);
const children = names.map((name, number) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: {name: `${parent.metadata.name}-card-${number}`},
  data: {text: `Hello, ${name}!`},
}));
fs.writeFileSync(process.env.ARGOPERATOR_RESPONSE, JSON.stringify({children}));
