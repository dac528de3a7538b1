/** The help page, and its part for one command. */

const INTRODUCTION = `Kedge: the Kubernetes API, serverless.

Usage: kedge COMMAND [FLAGS]

Commands
  start        Start the API server on this machine and keep it running until Ctrl-C.
  kubeconfig   Print the administrator's kubeconfig of a data directory.
  backup       Write all of the control plane of a running server to a file, as of one moment.
  restore      Put a backup into a running server that holds nothing yet; versions are kept.
  encryption   rewrite: store all that is encrypted anew, with the first key of a running server.
  token        Print the administrator's bearer token of a data directory. create: a token with which machines join.
  login        Log in at an OpenID Connect provider by the browser, for kubectl: prints an ExecCredential.
  keys         rotate: sign ServiceAccounts' tokens with a new key from the next start on; with --ca, replace the CA.
  version      Print Kedge's version and the Kubernetes version it serves.
  help         Print this page (also --help).

`

/** The flags of commands, by the commands that have them. */
const FLAGS: readonly (readonly [commands: readonly string[], text: string])[] = [
  [
    ['start'],
    `Flags of start
  --port PORT      Port for HTTPS. 0 takes any free one and prints it. Default 6443.
  --host ADDRESS   Address to listen on; 0.0.0.0 for all of this machine's. Default 127.0.0.1.
  --data-dir DIR   Where keys, kubeconfig and all objects are kept. Default .kedge in the current directory.
  --ephemeral      Keep everything in a temporary directory and remove it at the end.
  --san NAME       A further DNS name or IP address for the server's certificate, beside localhost, 127.0.0.1 and ::1.
                   May be given more than once, or a list with commas.
  --runtime-config LIST
                   Which API versions and resources are served: api/all=true, group/version=false,
                   group/version/resource=true … as with kube-apiserver.
  --feature-gates LIST
                   Name=true|false …, as with kube-apiserver; AllAlpha and AllBeta for all of a stage.
  --service-cluster-ip-range LIST
                   The addresses of Services, as with kube-apiserver: one range, or one of IPv4 and one of IPv6.
                   Simulated pods have addresses of the same families. Default 10.96.0.0/16.
  --service-node-port-range RANGE
                   The node ports of Services, as with kube-apiserver. Default 30000-32767.
  --history LIST   How many seconds old versions of objects stay readable, for watches that go on, lists of the past and
                   continue tokens. Default 300; for single tenants TENANT=SECONDS: 300,acme=172800. At most 31 days.
  --workloads off|controllers|simulated
                   What makes objects move (docs/workloads.md): nothing, as envtest; the controllers of Deployments, Jobs
                   and others; or (default) these, a scheduler and simulated nodes.
  --controllers LIST
                   Which of them, as with kube-controller-manager: *,-cronjob-controller is all but one. Default *.
                   *,-garbage-collector-controller leaves objects of deleted owners alone, also with --workloads off.
  --scheduler-config FILE
                   A KubeSchedulerConfiguration (kubescheduler.config.k8s.io/v1), as with kube-scheduler's --config: the
                   scheduler's profiles, with their plugins and args (docs/workloads.md).
  --nodes N        Simulated nodes that are made when they are not there. Without this flag and --workloads: 2, in a
                   control plane that has no node yet.
  --missing-images LIST
                   Images that simulated nodes cannot pull, whole or a beginning and a star: broken,example.com/*.
  -v, --v N        How much is logged, 0 to 10. From 3 on, a line of JSON for each request.
  --audit-policy-file FILE
                   Which requests are audited: an audit.k8s.io/v1 Policy, in YAML or JSON. Events go to the files
                   and webhooks that the next flags say, or to the standard output (docs/audit.md).
  --audit-log-path FILE
                   The file for audit events; - is the standard output.
  --audit-log-maxsize N, --audit-log-maxbackup N
                   After how many megabytes a new file is begun (default 100), and how many old ones are kept
                   (default 0: all).
  --audit-log-mode MODE
                   batch (default): requests don't wait for their events. blocking: they do. blocking-strict: and are
                   refused where the first event cannot be written.
  --audit-webhook-config-file FILE
                   A kubeconfig whose server gets the events, with its token.
  --audit-webhook-mode MODE
                   As --audit-log-mode.
  --enable-admission-plugins LIST, --disable-admission-plugins LIST
                   Admission plugins beside the default ones, and default ones that are not to run, as with
                   kube-apiserver (docs/admission.md).
  --admission-control-config-file FILE
                   An AdmissionConfiguration (apiserver.config.k8s.io/v1) with the configurations of plugins.
  --services LIST
                   Where Services are, for webhooks and aggregated APIs: NAMESPACE/NAME:PORT=https://HOST:PORT … The
                   certificate is still that of NAME.NAMESPACE.svc. May be given more than once.
  --tls-cert-file FILE, --tls-private-key-file FILE
                   The server's certificate, with the certificates that lead to its root, and its key, in PEM. Default: one
                   by the data directory's CA. Clients that trust the certificates of the first file can verify the server.
                   Read anew when the files change.
  --client-ca-file FILE
                   Further authorities of client certificates, in PEM, beside the data directory's CA. Read anew when the
                   file changes.
  --http2-max-streams-per-connection N
                   How many requests of one connection in HTTP/2 are served at a time. Default 100.
  --disable-http2-serving
                   Speaks HTTP/1.1 only.
  --min-request-timeout SECONDS
                   How long a watch lives that does not say so: this many seconds or up to twice as many, at random.
                   Default 1800.
  --request-timeout DURATION
                   How long a request may take, except watches, logs, backups and the like. Default 1m0s.
  --event-ttl DURATION
                   How long Events are kept. Default 1h0m0s; 0 keeps them for ever.
  --default-not-ready-toleration-seconds SECONDS, --default-unreachable-toleration-seconds SECONDS
                   How long pods stay on a node that is not ready, or unreachable, unless they say otherwise. Default 300.
  --kubelet-preferred-address-types LIST
                   By which addresses of nodes kubelets are called, in this order. Default
                   Hostname,InternalDNS,InternalIP,ExternalDNS,ExternalIP.
  --kubelet-certificate-authority FILE
                   Who signs kubelets' serving certificates, in PEM. Without it they are not looked at.
  --encryption-keys FILE
                   Encrypts Secrets at rest: ID:BASE64 of 32 bytes; more keys behind commas open what they sealed before.
  --encryption-resources LIST
                   What is encrypted instead: secrets,configmaps,things.example.com.
  --service-account-issuer URL
                   The issuer of ServiceAccounts' tokens, and the audience that stands for this server. May be given more
                   than once: the first one's tokens are made, those of all are taken.
  --api-audiences LIST
                   The names that stand for this server in the audiences of tokens. Default: the issuers.
  --cors-allowed-origins LIST
                   The web pages that may call this server from a browser: regular expressions of their origins, as
                   ^https://app\\.example\\.com$ (docs/access.md). Default: none.
  --max-requests-inflight N, --max-mutating-requests-inflight N
                   How many requests are served at once, both numbers together. Default 400 and 200.
  --service-account-max-token-expiration DURATION, --service-account-extend-token-expiration BOOL
                   How long such tokens may live, and whether those of kubelets live longer, as with kube-apiserver.
  --service-account-signing-endpoint FILE
                   A kubeconfig of the server that signs these tokens instead (docs/access.md).
  --authentication-config FILE
                   Whose JSON Web Tokens are believed, and where nobody need say who it is: an
                   AuthenticationConfiguration, in YAML or JSON. Read anew when the file changes (docs/access.md).
  --oidc-issuer-url URL, --oidc-client-id ID, --oidc-ca-file FILE, --oidc-username-claim CLAIM,
  --oidc-username-prefix PREFIX, --oidc-groups-claim CLAIM, --oidc-groups-prefix PREFIX, --oidc-signing-algs LIST,
  --oidc-required-claim KEY=VALUE
                   The same for one issuer, as with kube-apiserver.
  --token-auth-file FILE
                   Static tokens: rows of TOKEN,USER,UID,"GROUP,GROUP".
  --authentication-token-webhook-config-file FILE
                   A kubeconfig of a server that is asked about tokens (TokenReview); the current context counts.
  --authentication-token-webhook-version v1|v1beta1, --authentication-token-webhook-cache-ttl DURATION
                   Which TokenReview (default v1beta1), and for how long a yes is taken (default 2m0s).
  --authorization-config FILE
                   Who decides, in which order: an AuthorizationConfiguration. Read anew when the file changes.
  --authorization-mode LIST
                   The same by names: Node, RBAC, Webhook, AlwaysAllow, AlwaysDeny. Default Node,RBAC.
  --authorization-webhook-config-file FILE, --authorization-webhook-version v1|v1beta1,
  --authorization-webhook-cache-authorized-ttl DURATION, --authorization-webhook-cache-unauthorized-ttl DURATION
                   Of the mode Webhook, as with kube-apiserver.
  --anonymous-auth BOOL
                   false refuses requests without credentials. Default true.`,
  ],
  [
    ['encryption'],
    `Flags of encryption rewrite
  --resources LIST Which resources. Default secrets.
  --data-dir DIR   The data directory of the running server. Default .kedge in the current directory.`,
  ],
  [
    ['backup'],
    `Flags of backup
  -o FILE          Where the backup goes; written only when it is whole. A pipe or a device gets it as it comes.
  --data-dir DIR   The data directory of the running server. Default .kedge in the current directory.`,
  ],
  [
    ['restore'],
    `Flags of restore: kedge restore FILE, into an empty control plane. Until all of it is there, other requests are
answered with 503; a restore that failed is repeated with the same command.
  --abandon        Instead of FILE: give up a restore that failed. The control plane is empty then.
  --data-dir DIR   The data directory of the running server. Default .kedge in the current directory.`,
  ],
  [
    ['kubeconfig', 'token', 'keys'],
    `Flags of kubeconfig, token and keys rotate
  --data-dir DIR   The data directory. Default .kedge in the current directory.`,
  ],
  [
    ['token'],
    `Flags of token create: makes a bootstrap token and publishes what "kubeadm join" reads (docs/nodes.md)
  --ttl DURATION   How long it can be used: 24h (default), 30m …; 0 for ever.
  --print-join-command
                   Prints the command with which a machine joins, instead of the token.
  --control-plane-endpoint HOST:PORT
                   Where machines reach the server. Default: the address in the kubeconfig.
  --description TEXT`,
  ],
  [
    ['keys'],
    `Flags of keys rotate
  --ca begin|switch|finish
                   Replaces the CA, with a start after each step: the new one is trusted beside the old one, then it
                   signs, then the old one is trusted no more (docs/access.md).
  --front-proxy-ca begin|switch|finish
                   The same with the CA of front proxies.
  --force          Also where no server has started since the last step. Clients that trust the old CA alone are locked
                   out then.`,
  ],
  [
    ['kubeconfig'],
    `Flags of kubeconfig for somebody else than the administrator
  --user NAME      Prints a kubeconfig of this user, with a client certificate that ends soon.
  --group NAME     A group of the user. May be given more than once.
  --for DURATION   For how long: 8h (default), 30m, 72h …`,
  ],
  [
    ['login'],
    `Flags of login
  --issuer-url URL, --client-id ID, --client-secret SECRET
                   The provider, and what it knows kubectl as.
  --certificate-authority FILE
                   Authorities of the provider's certificate, in PEM. Default: those that Node trusts.
  --scope SCOPE    A scope besides openid and offline_access. May be given more than once.
  --port PORT      Of the redirect URL http://localhost:PORT. Default 8000; 0 takes any.
  --cache-dir DIR  Where refresh tokens are kept, for their owner alone. Default ~/.kube/cache/kedge-login.
  --no-browser     Print the address instead of opening it.`,
  ],
]

/** @returns all of it for a command that has no flags, or that nobody knows */
export function helpFor(command: string): string {
  const own = FLAGS.filter(([commands]) => commands.includes(command)).map(([, text]) => text)
  const page =
    own.length > 0
      ? [...own, 'All commands and flags: kedge help']
      : [INTRODUCTION.trimEnd(), ...FLAGS.map(([, text]) => text), 'With npm: npm start -- --port 16443']
  return `${page.join('\n\n')}\n`
}
