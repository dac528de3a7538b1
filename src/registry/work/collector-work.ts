/**
 * The payloads of the garbage collector's work. Shards' outboxes and the controllers' table may hold payloads of an
 * older release, so each reader checks them.
 */
import type { GroupResource } from '../../api/group-version.ts'
import type { KubeObject, OwnerReference } from '../../api/object.ts'
import { ownValue } from '../../base/own.ts'
import { HopelessWork } from './hopeless-work.ts'

/** The identity of an object in a payload. */
export interface ObjectKey extends GroupResource {
  readonly namespace: string
  readonly name: string
  readonly uid: string
}

/** The payload of work on one object. */
export function objectKeyText({ group, resource }: GroupResource, { metadata }: KubeObject): string {
  const { namespace = '', name = '', uid = '' } = metadata
  return JSON.stringify({ group, resource, namespace, name, uid } satisfies ObjectKey)
}

/**
 * Objects of a resource that name these owners. The payload names no object, so many writes for one owner bring the
 * same work. The table keeps that work once.
 */
export interface OwnedObjects extends GroupResource {
  readonly namespace: string
  readonly owners: readonly OwnerReference[]
}

/** Owners whose deletion an object no longer blocks. */
export interface FreedOwners {
  /** The namespace of the object. */
  readonly namespace: string
  readonly owners: readonly OwnerReference[]
}

/** An owner whose deletion the server has seen. */
export interface AbsentOwner {
  readonly uid: string
  /** `Kind.group` */
  readonly ownerKind: string
  /** Empty for a cluster-scoped owner. */
  readonly namespace: string
}

/** The work after an object was removed. */
export interface DeletedOwner extends FreedOwners, AbsentOwner {}

/** A kind that is now served, or that is served in other versions than before. */
export interface ServedKind extends GroupResource {
  readonly kind: string
}

export function objectKeyIn(payload: string): ObjectKey {
  const { group, resource, namespace, name, uid } = textsIn(payload, ['group', 'resource', 'namespace', 'name', 'uid'])
  return { group, resource, namespace, name, uid }
}

/** Payloads of earlier releases name one object. So do those for a kind that is served again. */
export function ownedIn(payload: string): OwnedObjects | ObjectKey {
  if (ownValue(parsed(payload), 'name') !== undefined) return objectKeyIn(payload)
  return { ...textsIn(payload, ['group', 'resource', 'namespace']), owners: ownersIn(payload) }
}

export function freedOwnersIn(payload: string): FreedOwners {
  return { ...textsIn(payload, ['namespace']), owners: ownersIn(payload) }
}

export function deletedOwnerIn(payload: string): DeletedOwner {
  return { ...textsIn(payload, ['uid', 'ownerKind', 'namespace']), owners: ownersIn(payload) }
}

export function servedKindIn(payload: string): ServedKind {
  return textsIn(payload, ['group', 'resource', 'kind'])
}

/** @throws HopelessWork if a member is no text */
function textsIn<Member extends string>(payload: string, members: readonly Member[]): Record<Member, string> {
  const object = parsed(payload)
  const texts = members.map((member): [Member, string] => {
    const text = ownValue(object, member)
    if (typeof text !== 'string') throw new HopelessWork(`${member} is no text in ${payload}`)
    return [member, text]
  })
  // `texts` has one entry for each member
  return Object.fromEntries(texts) as Record<Member, string>
}

function ownersIn(payload: string): OwnerReference[] {
  const { owners } = parsed(payload)
  if (!Array.isArray(owners)) throw new HopelessWork(`owners is no list in ${payload}`)
  return owners.map((owner: unknown) => {
    if (!isOwnerReference(owner)) throw new HopelessWork(`an owner is no owner reference in ${payload}`)
    return owner
  })
}

function isOwnerReference(owner: unknown): owner is OwnerReference {
  if (!isRecord(owner)) return false
  const texts = [owner['apiVersion'], owner['kind'], owner['name'], owner['uid']]
  return texts.every((text) => text === undefined || typeof text === 'string')
}

function parsed(payload: string): Readonly<Record<string, unknown>> {
  try {
    const object: unknown = JSON.parse(payload)
    if (isRecord(object)) return object
  } catch {
    // fall through: the payload is no JSON object
  }
  throw new HopelessWork(`no JSON object: ${payload}`)
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
