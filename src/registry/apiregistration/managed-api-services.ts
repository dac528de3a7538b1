/**
 * The APIServices that the server writes itself, for versions that are built in or that a definition serves. A label
 * tells them from users' own. Its value says whether the server keeps the object right all the time or at its start.
 */
import type { APIService } from '../../api/apiregistration/v1.ts'
import type { Json, KubeObject } from '../../api/object.ts'
import { stringifySorted } from '../../json/write-json.ts'
import { CUSTOM_GROUP_PRIORITY, CUSTOM_VERSION_PRIORITY } from '../served/resources.ts'
import type { Change, Work } from '../work/work.ts'
import { work } from '../work/work.ts'

export type StoredApiService = KubeObject & APIService

export const AUTOMANAGED = 'kube-aggregator.kubernetes.io/automanaged'
export const ON_START = 'onstart'
const ALWAYS = 'true'

const managementOf = ({ metadata }: StoredApiService): string | undefined => metadata.labels?.[AUTOMANAGED]

export const isAlwaysManaged = (service: StoredApiService): boolean => managementOf(service) === ALWAYS

export const isManaged = (service: StoredApiService): boolean =>
  isAlwaysManaged(service) || managementOf(service) === ON_START

/** The APIService of a version that a definition serves. Its strategy makes it available, like any local one. */
export const definitionApiService = (group: string, version: string): StoredApiService => ({
  kind: 'APIService',
  apiVersion: 'apiregistration.k8s.io/v1',
  metadata: { name: `${version}.${group}`, labels: { [AUTOMANAGED]: ALWAYS } },
  spec: { group, version, groupPriorityMinimum: CUSTOM_GROUP_PRIORITY, versionPriority: CUSTOM_VERSION_PRIORITY },
})

export const hasSpecOf = (live: StoredApiService, wanted: StoredApiService): boolean =>
  sortedText(live.spec) === sortedText(wanted.spec)

// members of stored objects are JSON
const sortedText = (value: object | undefined): string => stringifySorted(value as unknown as Json | undefined)

/** Work for the controller that keeps those of definitions right. */
export function managedWork({ object, old }: Change<StoredApiService>): readonly Work[] {
  const { group = '' } = (object ?? old)?.spec ?? {}
  // no definition is in the core group
  if (group === '') return []
  if (object === undefined) return work('crd-api-services', group)
  const isSame = old !== undefined && isAlwaysManaged(old) && hasSpecOf(object, old)
  return isAlwaysManaged(object) && !isSame ? work('crd-api-services', group) : []
}
