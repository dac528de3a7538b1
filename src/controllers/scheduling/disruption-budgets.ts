/** The PodDisruptionBudgets of all namespaces, of each no more than the memory of all allows. */
import type { PodDisruptionBudget } from '../../api/policy/v1.ts'
import { charactersOf } from '../../base/bounded-map.ts'

/** UTF-16 units of the budgets of one namespace. */
const MOST = 1024 * 1024

type Budget = Pick<PodDisruptionBudget, 'metadata' | 'spec' | 'status'>

interface Kept {
  budgets: Budget[]
  length: number
}

/** Of a namespace whose budgets are too long together, one in their place allows no disruption of any pod. */
export async function keptBudgets(all: AsyncIterable<PodDisruptionBudget>): Promise<readonly Budget[]> {
  /** By namespace. Bound: the namespaces. */
  const kept = new Map<string, Kept>()
  for await (const { metadata, spec, status } of all) {
    const { name = '', namespace = '' } = metadata
    const of = kept.get(namespace) ?? { budgets: [], length: 0 }
    kept.set(namespace, of)
    if (of.length > MOST) continue
    const { selector } = spec ?? {}
    const budget: Budget = {
      metadata: { name, namespace },
      spec: { ...(selector && { selector }) },
      ...(status && { status }),
    }
    of.length += charactersOf(budget)
    if (of.length > MOST) of.budgets = [noneAllowed(namespace)]
    else of.budgets.push(budget)
  }
  return [...kept.values()].flatMap(({ budgets }) => budgets)
}

/** A selector without requirements would select no pod. */
const noneAllowed = (namespace: string): Budget => ({
  metadata: { name: '', namespace },
  spec: { selector: { matchExpressions: [{ key: 'kedge.dev/no-budget', operator: 'DoesNotExist' }] } },
  status: { disruptionsAllowed: 0 },
})
