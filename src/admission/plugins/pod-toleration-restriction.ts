/**
 * PodTolerationRestriction: the default tolerations of the pods in a namespace, and the tolerations that they may
 * have.
 */
import type { Namespace, Toleration } from '../../api/core/v1.ts'
import { ownValue } from '../../base/own.ts'
import { notFound, plainError } from '../../api/status.ts'
import { settingsOf } from '../../settings.ts'
import { namespaceOf } from '../../tenancy/namespaces.ts'
import { qosClassOf } from '../../validation/pod/pod-qos.ts'
import type { AdmissionPlugin, Attributes } from '../attributes.ts'
import { isOfPods, podOf } from './pod-attributes.ts'
import { readTolerations } from './toleration-annotation.ts'
import { coverageBy, mergeTolerations } from './tolerations.ts'

const DEFAULTS = 'scheduler.alpha.kubernetes.io/defaultTolerations'
const WHITELIST = 'scheduler.alpha.kubernetes.io/tolerationsWhitelist'

/** Pods that are not BestEffort stay on nodes that run out of memory. */
const MEMORY_PRESSURE = { key: 'node.kubernetes.io/memory-pressure', operator: 'Exists', effect: 'NoSchedule' }

export const podTolerationRestriction: AdmissionPlugin = {
  name: 'PodTolerationRestriction',
  handles: (attributes) =>
    (attributes.operation === 'CREATE' || attributes.operation === 'UPDATE') && isOfPods(attributes),
  async admit(attributes) {
    const spec = (podOf(attributes).spec ??= {})
    const extra = [
      ...(attributes.operation === 'CREATE' ? await defaultTolerations(attributes) : []),
      ...(qosClassOf(spec) === 'BestEffort' ? [] : [{ ...MEMORY_PRESSURE }]),
    ]
    if (extra.length > 0) spec.tolerations = mergeTolerations(spec.tolerations ?? [], extra)
    await checkAllowed(attributes)
  },
  validate: checkAllowed,
}

const setting = ({ request }: Attributes) => settingsOf(request.env).admission.podTolerations

async function defaultTolerations(attributes: Attributes): Promise<readonly Toleration[]> {
  return annotated(await namespaceFor(attributes), DEFAULTS) ?? setting(attributes).defaults
}

async function checkAllowed(attributes: Attributes): Promise<void> {
  const tolerations = podOf(attributes).spec?.tolerations ?? []
  if (tolerations.length === 0) return
  const ofNamespace = annotated(await namespaceFor(attributes), WHITELIST)
  const whitelist = ofNamespace ?? setting(attributes).whitelist
  if (whitelist.length === 0) return
  if (tolerations.every(coverageBy(whitelist))) return
  throw plainError(
    `pod tolerations (possibly merged with namespace default tolerations) conflict with its ${ofNamespace === undefined ? 'cluster' : 'namespace'} whitelist`,
  )
}

async function namespaceFor({ request, namespace }: Attributes): Promise<Namespace> {
  const found = await namespaceOf(request, namespace)
  if (found === undefined) throw notFound({ group: '', resource: 'namespaces' }, namespace)
  return found
}

/** Undefined where the namespace has no such annotation, and the configuration decides. */
function annotated({ metadata }: Namespace, key: string): readonly Toleration[] | undefined {
  const text = ownValue(metadata.annotations, key)
  return text === undefined ? undefined : readTolerations(text)
}
