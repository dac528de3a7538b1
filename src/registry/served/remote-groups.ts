/**
 * Group versions that another server serves behind an APIService. Discovery lists them even if that server does not
 * answer.
 */
import type { APIService } from '../../api/apiregistration/v1.ts'
import type { GroupResource } from '../../api/group-version.ts'
import type { ServedGroup } from './resources.ts'

export const API_SERVICES: GroupResource = { group: 'apiregistration.k8s.io', resource: 'apiservices' }

export const isRemote = ({ spec }: APIService): boolean => spec?.service !== undefined && spec.service !== null

export function remoteGroups(services: readonly APIService[]): ServedGroup[] {
  return services.filter(isRemote).map(({ spec }) => ({
    group: spec?.group ?? '',
    priority: spec?.groupPriorityMinimum ?? 0,
    versions: [
      { version: spec?.version ?? '', priority: spec?.versionPriority ?? 0, resources: [], stale: true, remote: true },
    ],
  }))
}
