import type { PodTemplateSpec } from '../api/core/v1.ts'
import type { ObjectMeta } from '../api/object.ts'

interface Templated {
  readonly metadata: ObjectMeta
  readonly spec?: { readonly template?: PodTemplateSpec }
}

/**
 * Gives an object without labels those of its pod template: a default of Jobs and ReplicationControllers. kube-apiserver
 * sets it when it reads the object, so that a write of the status, which has its own metadata, leaves no object without
 * labels.
 */
export function labelsOfTemplate({ metadata, spec }: Templated): void {
  const labels = spec?.template?.metadata?.labels
  if (labels !== undefined && Object.keys(metadata.labels ?? {}).length === 0) metadata.labels = { ...labels }
}
