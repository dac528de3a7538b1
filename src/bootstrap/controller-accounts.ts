/** The kube-system ServiceAccounts of the controllers that belong to the API; role bindings name them. */
export const CONTROLLER_ACCOUNTS = [
  'bootstrap-signer',
  'certificate-controller',
  'clusterrole-aggregation-controller',
  'generic-garbage-collector',
  'legacy-service-account-token-cleaner',
  'namespace-controller',
  'resourcequota-controller',
  'root-ca-cert-publisher',
  'service-account-controller',
  'token-cleaner',
  'validatingadmissionpolicy-status-controller',
] as const
