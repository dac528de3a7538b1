/**
 * Fields that a write can't change, and which therefore nobody owns through it: the main resource does not write the
 * status, `status` does not write the spec (the strategies' GetResetFields in kubernetes/pkg/registry). Of custom
 * resources, kube-apiserver says so of the main resource for no version but that of the request.
 */
import type { GroupResource } from '../api/group-version.ts'
import { lazy } from '../api/lazy.ts'
import { ownValue } from '../api/own.ts'
import { FieldSet } from './field-set.ts'

/** What is left of a set of fields of this version; undefined: everything. */
export type ResetFields = (apiVersion: string) => ((fields: FieldSet) => FieldSet) | undefined

const without = (...paths: readonly (readonly string[])[]): ResetFields => {
  const reset = lazy(() => FieldSet.of(...paths.map((path) => path.map((name) => `f:${name}`))))
  return () => (fields) => fields.recursiveDifference(reset())
}

const status = without(['status'])
const spec = without(['spec'])
const specAndMetadata = without(['spec'], ['metadata'])
const everything: ResetFields = () => undefined

/** Resources whose strategies declare something else than is said of their kind below. */
const special: Readonly<Record<string, ResetFields>> = {
  'certificatesigningrequests.certificates.k8s.io': without(['spec'], ['status']),
  'certificatesigningrequests.certificates.k8s.io/status': without(['spec'], ['status', 'conditions']),
  'certificatesigningrequests.certificates.k8s.io/approval': without(['spec'], ['status', 'certificate']),
  'deployments.apps/status': without(['spec'], ['metadata', 'labels']),
  'namespaces/finalize': status,
  'pods/status': without(['spec'], ['metadata', 'deletionTimestamp'], ['metadata', 'ownerReferences']),
}

/** Resources with a status whose `status` subresource resets metadata too. */
const statusKeepsMetadata = new Set([
  'servicecidrs.networking.k8s.io',
  'storageversionmigrations.storagemigration.k8s.io',
  'resourceclaims.resource.k8s.io',
  'devicetaintrules.resource.k8s.io',
  'resourcepoolstatusrequests.resource.k8s.io',
  'storageversions.internal.apiserver.k8s.io',
  'volumeattachments.storage.k8s.io',
  'flowschemas.flowcontrol.apiserver.k8s.io',
  'prioritylevelconfigurations.flowcontrol.apiserver.k8s.io',
  'validatingadmissionpolicies.admissionregistration.k8s.io',
  'apiservices.apiregistration.k8s.io',
  'podgroups.scheduling.k8s.io',
])

/** Resources whose main strategy resets nothing although they have a status. */
const mainWritesStatus = new Set(['podcertificaterequests.certificates.k8s.io', 'podgroups.scheduling.k8s.io'])

/**
 * @param subresource '' for the main resource
 * @param hasStatus the resource has a status subresource
 * @param custom it comes from a CustomResourceDefinition
 * @param apiVersion of the request
 */
export function resetFieldsOf(
  resource: GroupResource,
  subresource: string,
  hasStatus: boolean,
  custom: boolean,
  apiVersion: string,
): ResetFields {
  const name = resource.group === '' ? resource.resource : `${resource.resource}.${resource.group}`
  const declared = custom ? undefined : ownValue(special, subresource === '' ? name : `${name}/${subresource}`)
  if (declared !== undefined) return declared
  if (subresource === 'status') return custom || statusKeepsMetadata.has(name) ? specAndMetadata : spec
  if (subresource === '' && hasStatus && custom)
    return (version) => (version === apiVersion ? status(version) : undefined)
  if (subresource === '' && hasStatus && !mainWritesStatus.has(name)) return status
  return everything
}
