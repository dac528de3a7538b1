/** Definitions whose objects a webhook converts (apiextensions' conversion/webhook_converter). */
import type { CustomResourceDefinition } from '../../api/apiextensions/v1.ts'
import { apiVersionOf } from '../../api/group-version.ts'
import type { KubeObject } from '../../api/object.ts'
import { StatusError } from '../../api/status.ts'
import { callError } from '../../webhooks/call-webhook.ts'

const TIMEOUT_SECONDS = 30

/** A bare Go error in kube-apiserver: no reason. A watch tells it before it ends. */
export class ConversionError extends StatusError {}

export const isConvertedByWebhook = ({ spec }: CustomResourceDefinition): boolean =>
  spec?.conversion?.strategy === 'Webhook'

/**
 * Before an object becomes one of this version. No webhook is called yet: pruning it to the other version's fields
 * instead would lose the fields that only its own version has.
 * @throws ConversionError where a webhook would have to be asked
 */
export function checkConversion(definition: CustomResourceDefinition, object: KubeObject, version: string): void {
  const { group = '', conversion } = definition.spec ?? {}
  if (!isConvertedByWebhook(definition) || object.apiVersion === apiVersionOf({ group, version })) return
  const { message } = callError(conversion?.webhook?.clientConfig ?? {}, TIMEOUT_SECONDS)
  const what = `${object.apiVersion}, Kind=${object.kind}`
  throw new ConversionError(500, undefined, `conversion webhook for ${what} failed: ${message}`)
}
