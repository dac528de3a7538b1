import type { Namespace } from '../../api/core/v1.ts'
import type { Strategy } from '../strategy.ts'

const NAME_LABEL = 'kubernetes.io/metadata.name'
const KUBERNETES = 'kubernetes'

export const namespaces: Strategy<Namespace> = {
  prepareForCreate(namespace) {
    namespace.status = { phase: 'Active' }
    const finalizers = namespace.spec?.finalizers ?? []
    namespace.spec = {
      ...namespace.spec,
      finalizers: finalizers.includes(KUBERNETES) ? finalizers : [...finalizers, KUBERNETES],
    }
    ensureNameLabel(namespace)
  },
  prepareForUpdate(namespace, old) {
    namespace.spec = { ...namespace.spec, finalizers: old.spec?.finalizers }
    ensureNameLabel(namespace)
  },
  prepareForDelete(namespace) {
    if (namespace.metadata.deletionTimestamp !== undefined)
      namespace.status = { ...namespace.status, phase: 'Terminating' }
  },
  // never removed by DELETE itself: the controller empties it first
  gracePeriod: () => 0,
  readyToGo: ({ spec }) => (spec?.finalizers ?? []).length === 0,
  selectableFields: ({ metadata, status }) => ({ name: metadata.name ?? '', 'status.phase': status?.phase ?? '' }),
  subresources: {
    finalize: {
      prepareForUpdate(namespace, old) {
        const finalizers = namespace.spec?.finalizers
        namespace.spec = { ...old.spec, finalizers }
        namespace.status = old.status
      },
    },
  },
}

/** A namespace that is deleted keeps the label as it was: nothing may hold it back. */
function ensureNameLabel({ metadata }: Namespace): void {
  if (metadata.name) metadata.labels = { ...metadata.labels, [NAME_LABEL]: metadata.name }
}
