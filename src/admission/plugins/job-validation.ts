/** JobValidation (KEP-5547): a Job whose pods start together (gang scheduling) keeps its parallelism. */
import type { Job } from '../../api/batch/v1.ts'
import type { PodGroup } from '../../api/scheduling/v1alpha2.ts'
import type { KubeObject } from '../../api/object.ts'
import { goQuote } from '../../go/quote.ts'
import { builtInServed } from '../../registry/served/built-in-served.ts'
import { storedObject } from '../../tenancy/stored-object.ts'
import { storedObjects } from '../../tenancy/stored-objects.ts'
import type { AdmissionPlugin, Attributes } from '../attributes.ts'
import { admissionForbidden } from '../forbidden.ts'

const POD_GROUPS = { group: 'scheduling.k8s.io', resource: 'podgroups' }

export const jobValidation: AdmissionPlugin = {
  name: 'JobValidation',
  handles: ({ operation, resource, subresource }) =>
    operation === 'UPDATE' && resource.group === 'batch' && resource.resource === 'jobs' && subresource === '',
  async validate(attributes) {
    const { request, object, oldObject } = attributes
    if (!builtInServed(request.env).gates.enabled('GenericWorkload')) return
    // only Jobs are written at this path
    const [job, old] = [object as unknown as Job, oldObject as unknown as Job & KubeObject]
    if (job.spec?.parallelism === old.spec?.parallelism) return
    const gang = (await groupsOf(attributes, old)).find(({ spec }) => spec?.schedulingPolicy?.gang !== undefined)
    if (gang !== undefined)
      throw admissionForbidden(
        attributes,
        `cannot change parallelism for a Job referencing gang-scheduled PodGroup ${goQuote(gang.metadata.name ?? '')}`,
      )
  },
}

/** The PodGroup that the template names, or the PodGroups that the Job owns. */
async function groupsOf({ request, namespace }: Attributes, job: Job & KubeObject): Promise<(PodGroup & KubeObject)[]> {
  const named = job.spec?.template?.spec?.schedulingGroup?.podGroupName
  if (named !== undefined) {
    const found = await storedObject<PodGroup>(request, POD_GROUPS, `${namespace}/${named}`)
    return found === undefined ? [] : [found]
  }
  const groups = await storedObjects<PodGroup>(request, POD_GROUPS, namespace)
  return groups.filter(({ metadata }) =>
    metadata.ownerReferences?.some(({ controller, uid }) => controller === true && uid === job.metadata.uid),
  )
}
