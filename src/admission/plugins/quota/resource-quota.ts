/**
 * ResourceQuota: limits the usage of a namespace. Before a write, its usage is added to the status of each quota that
 * counts it, by compare-and-swap, so that writers in several isolates never exceed a quota together. A write that
 * fails later takes its usage off again. After a crash the quota's controller does so, because each charge is also
 * work for it (registry/quota/work.ts).
 */
import { admissionForbidden } from '../../forbidden.ts'
import type { ResourceQuota } from '../../../api/core/v1.ts'
import type { KubeObject } from '../../../api/object.ts'
import type { Amounts } from '../../../registry/quota/amounts.ts'
import { checkQuota, namesOf } from '../../../registry/quota/check.ts'
import type { Evaluator, Write } from '../../../registry/quota/evaluator.ts'
import { evaluatorOf, isInScope } from '../../../registry/quota/evaluators.ts'
import type { Admission } from '../../../registry/write/admission.ts'
import type { Undo } from '../../../registry/write/undo.ts'
import { undoAll } from '../../../registry/write/undo.ts'
import type { ApiCall } from '../../../request/context.ts'
import type { AdmissionPlugin, Attributes } from '../../attributes.ts'
import { charge, giveBack } from './charge.ts'
import { checkCovered } from './limited-resources.ts'
import { expectQuota, quotasOf } from './quotas.ts'
import { settled } from './settle.ts'
import { storedReader } from './stored.ts'

/** @param admission the chain for writes of a quota's status, which kube-apiserver makes through its own client */
export const resourceQuota = (admission: Admission): AdmissionPlugin => ({
  name: 'ResourceQuota',
  handles: ({ operation, namespace, resource, object }) =>
    (operation === 'CREATE' || operation === 'UPDATE') &&
    namespace !== '' &&
    object !== undefined &&
    !(resource.group === '' && resource.resource === 'namespaces'),
  async validate(attributes) {
    const { request, namespace, resource, operation } = attributes
    if (resource.group === '' && resource.resource === 'resourcequotas' && operation === 'CREATE')
      expectQuota(request, namespace)
    const known = evaluatorOf(resource)
    const write = writeOf(attributes)
    if (known?.handles(write) !== true) return undefined
    const found = await quotasOf(request, namespace)
    const evaluator = await informed(request, known, write, found)
    const check = (quota: ResourceQuota): Amounts | undefined => addedBy(attributes, quota, evaluator, write)
    // every quota is checked before the first one is charged
    const all: (ResourceQuota & KubeObject)[] = []
    for (const quota of found)
      all.push(
        isInScope(evaluator, quota, write.object) ? await settled(attributes, admission, quota, evaluator) : quota,
      )
    checkCovered(attributes, evaluator, write, all)
    const quotas = all.filter((quota) => check(quota) !== undefined)
    return attributes.dryRun ? undefined : chargeAll(attributes, admission, quotas, check)
  },
})

/** The evaluator with the other objects that it needs. */
async function informed(
  request: ApiCall,
  known: Evaluator,
  { object, oldObject }: Write,
  quotas: readonly ResourceQuota[],
): Promise<Evaluator> {
  const names = new Set(quotas.flatMap(namesOf))
  const evaluator = (await known.informed?.(names, storedReader(request), request.now)) ?? known
  await evaluator.learn?.(object)
  if (oldObject !== undefined) await evaluator.learn?.(oldObject)
  return evaluator
}

function writeOf({ operation, subresource, object, oldObject }: Attributes): Write {
  // `handles` allows only these operations
  return { operation: operation as Write['operation'], subresource, object: object!, oldObject }
}

/** @throws StatusError where the write does not fit */
function addedBy(
  attributes: Attributes,
  quota: ResourceQuota,
  evaluator: Evaluator,
  write: Write,
): Amounts | undefined {
  const checked = checkQuota(quota, evaluator, write, attributes.request.now)
  if ('refusal' in checked) throw admissionForbidden(attributes, checked.refusal)
  return checked.added
}

async function chargeAll(
  { request }: Attributes,
  admission: Admission,
  quotas: readonly (ResourceQuota & KubeObject)[],
  check: (quota: ResourceQuota) => Amounts | undefined,
): Promise<Undo | undefined> {
  const undos: Undo[] = []
  try {
    for (const quota of quotas) {
      const made = await charge(request, admission, quota, check)
      if (made !== undefined) undos.push(() => giveBack(request, admission, made))
    }
  } catch (error) {
    await undoAll(undos, request)
    throw error
  }
  return undos.length === 0 ? undefined : () => undoAll(undos, request)
}
