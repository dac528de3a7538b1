module kedge.test/charts

go 1.25

require (
	github.com/argoproj/argo-helm v0.0.0-20260904222229-3bbb4305eea9
	github.com/prometheus-community/helm-charts v0.0.0-20260828105119-ed5d7d9b5933
	github.com/traefik/traefik-helm-chart v41.6.0+incompatible
	k8s.io/ingress-nginx v0.0.0-20240708192948-52c50467d67d
)
