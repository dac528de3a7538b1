/** The webhooks of a control plane's configurations, read once for each state of them. */
import type {
  MutatingWebhook,
  MutatingWebhookConfiguration,
  ValidatingWebhookConfiguration,
} from '../../api/admissionregistration/v1.ts'
import type { GroupResource } from '../../api/group-version.ts'
import type { KubeObject } from '../../api/object.ts'
import type { ControlSnapshot } from '../../tenancy/control-snapshot.ts'

/** Only mutating webhooks have a reinvocationPolicy; otherwise both types are the same. */
export type Webhook = MutatingWebhook & {
  /** The name of the configuration. */
  readonly configuration: string
  /** The index within the configuration. */
  readonly index: number
}
type Configuration = (MutatingWebhookConfiguration | ValidatingWebhookConfiguration) & KubeObject

const group = 'admissionregistration.k8s.io'
const resources = {
  mutating: { group, resource: 'mutatingwebhookconfigurations' },
  validating: { group, resource: 'validatingwebhookconfigurations' },
} satisfies Record<string, GroupResource>

export type WebhookType = keyof typeof resources

/** The snapshot returns the same list value as long as no configuration changes. */
const byConfigurations = new WeakMap<readonly Configuration[], readonly Webhook[]>()

/** In the order of the configurations' names. */
export function configuredWebhooks(snapshot: ControlSnapshot, type: WebhookType): readonly Webhook[] {
  const configurations = snapshot.list<Configuration>(resources[type])
  if (configurations.length === 0) return []
  let webhooks = byConfigurations.get(configurations)
  if (webhooks === undefined) byConfigurations.set(configurations, (webhooks = configurations.flatMap(webhooksOf)))
  return webhooks
}

const webhooksOf = ({ metadata, webhooks = [] }: Configuration): Webhook[] =>
  webhooks.map((webhook, index) => ({ ...webhook, configuration: metadata.name ?? '', index }))
