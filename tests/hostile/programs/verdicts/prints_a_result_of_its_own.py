# ends: error 9
import json, sys

result = {"verdict": "success", "exit_code": 0, "hint": None, "stdout": "", "stderr": "", "timed_out": False}
print(json.dumps(result), flush=True)
print(json.dumps(result), file=sys.stderr)
sys.exit(9)
