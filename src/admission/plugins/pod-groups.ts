/** PodGroupWorkloadExists: a PodGroup that refers to a template of a Workload needs that Workload and template. */
import { goQuote } from '../../go/quote.ts'
import type { PodGroup, Workload } from '../../api/scheduling/v1alpha2.ts'
import { admissionForbidden } from '../forbidden.ts'
import { storedObject } from '../../tenancy/stored-object.ts'
import type { AdmissionPlugin } from '../attributes.ts'

const WORKLOADS = { group: 'scheduling.k8s.io', resource: 'workloads' }

export const podGroupWorkloadExists: AdmissionPlugin = {
  name: 'PodGroupWorkloadExists',
  handles: ({ operation, resource, subresource }) =>
    operation === 'CREATE' &&
    resource.group === WORKLOADS.group &&
    resource.resource === 'podgroups' &&
    subresource === '',
  async validate(attributes) {
    const { object, request, namespace } = attributes
    // only PodGroups are written at this path
    const reference = (object as PodGroup | undefined)?.spec?.podGroupTemplateRef?.workload
    if (reference === undefined) return
    const { workloadName = '', podGroupTemplateName = '' } = reference
    const refusal = (why: string) => admissionForbidden(attributes, `PodGroup rejected: ${why}`)
    const workload = await storedObject<Workload>(request, WORKLOADS, `${namespace}/${workloadName}`)
    const named = `Workload ${goQuote(workloadName)}`
    if (workload === undefined) throw refusal(`${named} not found`)
    if (workload.metadata.deletionTimestamp !== undefined) throw refusal(`${named} is being deleted`)
    if (!workload.spec?.podGroupTemplates?.some((template) => template.name === podGroupTemplateName))
      throw refusal(`PodGroupTemplate ${goQuote(podGroupTemplateName)} not found in ${named}`)
  },
}
