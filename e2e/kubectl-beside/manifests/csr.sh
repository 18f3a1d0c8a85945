# A request for a client certificate: csr.sh NAME.
openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout key.pem -subj "/CN=$1" -out csr.pem 2>/dev/null
cat <<Y | kubectl create -f - >/dev/null
apiVersion: certificates.k8s.io/v1
kind: CertificateSigningRequest
metadata: { name: $1 }
spec:
  request: $(base64 -w0 csr.pem)
  signerName: kubernetes.io/kube-apiserver-client
  usages: [client auth]
Y
