# ends: error 1
import json, sys

print(json.dumps({"status": "oom", "Type": "container", "Action": "oom"}))
print(json.dumps({"status": "die", "Type": "container", "Action": "die", "Actor": {"Attributes": {"exitCode": "0"}}}))
sys.exit(1)
