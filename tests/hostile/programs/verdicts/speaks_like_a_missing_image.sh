# ends: error 125
echo "Unable to find image 'python:3.12-slim' locally" >&2
echo 'docker: Error response from daemon: No such image: python:3.12-slim' >&2
exit 125
