import json, os

json.dump({"children": [], "finalized": True}, open(os.environ["ARGOPERATOR_RESPONSE"], "w"))
