/** The scale subresource: autoscaling/v1 Scale as a view of a workload (registry/apps and registry/core scale REST). */
import type { Scale } from '../api/autoscaling/v1.ts'
import { invalidValue, path } from '../api/field.ts'
import type { LabelSelector, ObjectMeta } from '../api/meta/v1.ts'
import type { KubeObject } from '../api/object.ts'
import { conflict, invalid } from '../api/status.ts'
import { builtInType } from '../schema/built-in.ts'
import { labelSelectorText } from '../storage/selectors/label-selector-text.ts'
import { subdomainName } from '../validation/names.ts'
import { validateObjectMeta } from '../validation/object-meta.ts'
import type { View } from './resource.ts'

interface Workload {
  metadata: ObjectMeta
  spec?: { replicas?: number; selector?: LabelSelector | Record<string, string> }
  status?: { replicas?: number }
}

const kind = { group: 'autoscaling', version: 'v1', kind: 'Scale' }

export const scaleView: View = {
  kind,
  get type() {
    return builtInType('io.k8s.api.autoscaling.v1.Scale')
  },
  of(object): KubeObject {
    const { metadata, spec, status } = object as Workload
    const { name, namespace, uid, resourceVersion, creationTimestamp } = metadata
    const selector = selectorText(spec?.selector)
    const scale: Scale = {
      kind: 'Scale',
      apiVersion: 'autoscaling/v1',
      metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
      spec: { replicas: spec?.replicas ?? 0 },
      status: { replicas: status?.replicas ?? 0, ...(selector === '' ? {} : { selector }) },
    }
    return scale
  },
  into(object, view, { group, resource }) {
    const { metadata, spec } = view as Scale
    const replicas = spec?.replicas ?? 0
    const name = object.metadata.name ?? ''
    const namespace = metadata.namespace || object.metadata.namespace // if the body names none, that of the path
    const errors = validateObjectMeta({ ...metadata, namespace }, true, subdomainName)
    if (replicas < 0)
      errors.push(invalidValue(path('spec', 'replicas'), replicas, 'must be greater than or equal to 0'))
    if (errors.length > 0) throw invalid(kind, name, errors)
    const { uid = '' } = object.metadata
    if (metadata.uid && metadata.uid !== uid)
      throw conflict(
        { group, resource: `${resource}/scale` },
        name,
        `Precondition failed: UID in precondition: ${metadata.uid}, UID in object meta: ${uid}`,
      )
    const workload = object as Workload
    workload.spec = { ...workload.spec, replicas }
    workload.metadata.resourceVersion = metadata.resourceVersion
  },
}

/** ReplicationControllers have a map of labels where other workloads have a label selector. */
function selectorText(selector: LabelSelector | Record<string, string> | undefined): string {
  if (selector === undefined) return ''
  const isLabelSelector = 'matchLabels' in selector || 'matchExpressions' in selector
  return labelSelectorText(
    isLabelSelector ? (selector as LabelSelector) : { matchLabels: selector as Record<string, string> },
  )
}
