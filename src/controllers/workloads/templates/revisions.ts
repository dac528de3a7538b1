/**
 * ControllerRevisions of StatefulSets and DaemonSets. Each has a patch that restores the template of its revision
 * (kube-controller-manager's controller history).
 */
import type { ControllerRevision, DaemonSet, StatefulSet } from '../../../api/apps/v1.ts'
import type { PodTemplateSpec } from '../../../api/core/v1.ts'
import { cloneJson } from '../../../json/clone-json.ts'
import { stringifySorted } from '../../../json/write-json.ts'
import type { JsonObject, KubeObject, OwnerReference } from '../../../api/object.ts'
import { canonical } from '../../../codec/encode/encode.ts'
import { builtInType } from '../../../schema/built-in.ts'
import { samePodTemplate } from '../../../validation/same-value.ts'
import type { Clientset } from '../../client/clientset.ts'
import { typedResource } from '../../client/clientset.ts'
import { dependentsOf } from '../pods/pod-control.ts'

export const REVISIONS = typedResource<ControllerRevision>('apps', 'controllerrevisions')
/** The label with the revision of a pod, and with the hash of a DaemonSet's revision. */
export const REVISION_HASH = 'controller-revision-hash'

/** The patch of a template as JSON text with sorted members. The hash of a revision is computed from this text. */
export function templatePatch(template: PodTemplateSpec | undefined): string {
  const type = builtInType('io.k8s.api.core.v1.PodTemplateSpec')
  // a decoded template is a JSON object
  const written = canonical(type, (template ?? {}) as JsonObject)
  return stringifySorted({ spec: { template: { ...written, $patch: 'replace' } } })
}

interface Patch {
  readonly spec?: { readonly template?: PodTemplateSpec & { readonly $patch?: string } }
}

export function templateOf({ data }: ControllerRevision): PodTemplateSpec {
  // validated as an object; only members of a template are read
  const { $patch: _, ...template } = (data as Patch | undefined)?.spec?.template ?? {}
  return template
}

/** Whether the revision restores this template, in any form of its patch. */
export const isRevisionOf = (revision: ControllerRevision, template: PodTemplateSpec | undefined): boolean =>
  stringifySorted(revision.data as JsonObject) === templatePatch(template) ||
  samePodTemplate(templateOf(revision), template ?? {})

export interface NewRevision {
  readonly name: string
  readonly owner: KubeObject
  readonly ref: OwnerReference
  readonly template: PodTemplateSpec | undefined
  /** Labels in addition to those of the template. */
  readonly labels: Readonly<Record<string, string>>
  readonly revision: number | bigint
}

export function newRevision({ name, owner, ref, template, labels, revision }: NewRevision): ControllerRevision {
  const { namespace = '', annotations } = owner.metadata
  return cloneJson({
    kind: 'ControllerRevision',
    apiVersion: 'apps/v1',
    metadata: {
      name,
      namespace,
      labels: { ...template?.metadata?.labels, ...labels },
      ...(annotations === undefined ? {} : { annotations }),
      ownerReferences: [ref],
    },
    data: JSON.parse(templatePatch(template)) as JsonObject, // templatePatch makes an object
    revision,
  })
}

/** The revisions that the owner controls or adopts, the oldest first. */
export async function revisionsOf(
  clients: Clientset,
  owner: StatefulSet | DaemonSet,
  ref: OwnerReference,
): Promise<ControllerRevision[]> {
  const found = await dependentsOf(clients, REVISIONS, owner, ref, owner, {
    isMissing: (owned) => {
      const newest = owned.toSorted(byRevision).at(-1)
      return newest === undefined || !isRevisionOf(newest, owner.spec?.template)
    },
  })
  return found.sort(byRevision)
}

function byRevision(a: ControllerRevision, b: ControllerRevision): number {
  const [one, other] = [a.revision ?? 0, b.revision ?? 0]
  if (one !== other) return one < other ? -1 : 1
  const [createdA = '', createdB = ''] = [a.metadata.creationTimestamp, b.metadata.creationTimestamp]
  if (createdA !== createdB) return createdA < createdB ? -1 : 1
  return (a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1
}
