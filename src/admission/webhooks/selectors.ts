/** Which namespaces and objects a webhook selects (apiserver's webhook/predicates/namespace and object). */
import type { LabelSelector } from '../../api/meta/v1.ts'
import type { KubeObject } from '../../api/object.ts'
import { notFound } from '../../api/status.ts'
import { labelSelectorRequirements } from '../../storage/selectors/label-selector.ts'
import { matchesLabels } from '../../storage/selectors/selection.ts'
import { namespaceOf } from '../../tenancy/namespaces.ts'
import { isEmptySelector } from '../../validation/label-selectors.ts'
import type { Attributes } from '../attributes.ts'
import { isNamespaces } from './rules.ts'

type Labels = Readonly<Record<string, string>>

// validation refuses selectors without keys or with unknown operators
const selects = (selector: LabelSelector, labels: Labels = {}): boolean =>
  matchesLabels(labelSelectorRequirements(selector as Parameters<typeof labelSelectorRequirements>[0]), labels)

/** Whether the selector matches the new object or the old one. */
export function objectMatches(selector: LabelSelector = {}, { object, oldObject }: Attributes): boolean {
  if (isEmptySelector(selector)) return true
  const has = (one: KubeObject | undefined) => {
    // options of a CONNECT have no metadata
    const metadata: KubeObject['metadata'] | undefined = one?.metadata
    return metadata !== undefined && selects(selector, metadata.labels)
  }
  return has(object) || has(oldObject)
}

/**
 * A namespaceSelector exempts no cluster-scoped object except Namespaces. A Namespace whose name is still to be
 * generated is in no namespace yet.
 * @throws StatusError 404 for a namespace that does not exist
 */
export async function namespaceMatches(selector: LabelSelector = {}, attributes: Attributes): Promise<boolean> {
  const { namespace, resource } = attributes
  if ((namespace === '' && !isNamespaces(resource)) || isEmptySelector(selector)) return true
  return selects(selector, await namespaceLabels(attributes))
}

/** The labels that a written Namespace will have; for other objects the labels of their namespace. */
async function namespaceLabels(attributes: Attributes): Promise<Labels | undefined> {
  const { resource, subresource, operation, object, namespace, request } = attributes
  if (isNamespaces(resource) && subresource === '' && operation !== 'DELETE') return object?.metadata.labels
  const found = await namespaceOf(request, namespace)
  if (found === undefined) throw notFound({ group: '', resource: 'namespaces' }, namespace)
  return found.metadata.labels
}
