import type { ClusterRole, PolicyRule } from '../../api/rbac/v1.ts'
import type { Json, KubeObject } from '../../api/object.ts'
import { stringifySorted } from '../../json/write-json.ts'
import type { LabelSelector } from '../../storage/selectors/label-selector.ts'
import { labelSelectorRequirements } from '../../storage/selectors/label-selector.ts'
import { matchesLabels } from '../../storage/selectors/selection.ts'
import { managerClients } from '../client/clientset.ts'
import type { Controller } from '../controller.ts'

const MANAGER = 'clusterrole-aggregation-controller'

type StoredRole = ClusterRole & KubeObject

/** Gives ClusterRoles with an aggregationRule the rules of all roles whose labels it selects. The key is empty. */
export const clusterRoleAggregation: Controller = {
  async reconcile(_key, context) {
    const client = managerClients(context).resource({ group: 'rbac.authorization.k8s.io', resource: 'clusterroles' })
    // this resource has only this kind
    const roles = (await client.list()) as StoredRole[]
    for (const role of roles) {
      if (role.aggregationRule === undefined || role.metadata.deletionTimestamp !== undefined) continue
      const rules = aggregatedRules(role, roles)
      if (textOf(rules) === textOf(role.rules ?? [])) continue
      const { apiVersion, kind } = role
      // An apply without rules removes those of an earlier one. It leaves those that somebody else wrote.
      const applied = rules.length === 0 ? {} : { rules: rules as unknown as Json }
      // this write brings the controller back here, which then handles roles that aggregate this one
      await client.apply(role, { apiVersion, kind, ...applied }, { fieldManager: MANAGER })
    }
    return undefined
  },
}

/** The rules by selector and then by the name of the role, without duplicates. */
export function aggregatedRules(role: StoredRole, roles: readonly StoredRole[]): PolicyRule[] {
  const rules = new Map<string, PolicyRule>()
  for (const selector of role.aggregationRule?.clusterRoleSelectors ?? []) {
    // the selector was validated when the role was written
    const requirements = labelSelectorRequirements(selector as LabelSelector)
    for (const source of roles) {
      if (source.metadata.name === role.metadata.name || !matchesLabels(requirements, source.metadata.labels ?? {}))
        continue
      for (const rule of source.rules ?? []) {
        const text = textOf(rule)
        if (!rules.has(text)) rules.set(text, rule)
      }
    }
  }
  return [...rules.values()]
}

const textOf = (rules: PolicyRule | readonly PolicyRule[]): string => stringifySorted(rules as unknown as Json)
