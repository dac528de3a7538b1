/**
 * The payloads of the garbage collector's work. They outlive a release, in the shards' outboxes and in the controllers'
 * table, so each is checked when it is read.
 */
import type { GroupResource } from '../api/group-version.ts'
import type { OwnerReference } from '../api/object.ts'
import { ownValue } from '../api/own.ts'
import { HopelessWork } from './hopeless-work.ts'

/** An object as work names it. */
export interface ObjectKey extends GroupResource {
  readonly namespace: string
  readonly name: string
  readonly uid: string
}

/**
 * Objects of a resource that name these owners. The payload names no object, so that many writes for one owner bring
 * the same work, which the table keeps once.
 */
export interface OwnedObjects extends GroupResource {
  readonly namespace: string
  readonly owners: readonly OwnerReference[]
}

/** Owners that an object does not hold back any more. */
export interface FreedOwners {
  /** Of the object. */
  readonly namespace: string
  readonly owners: readonly OwnerReference[]
}

/** An owner that was seen to go. */
export interface AbsentOwner {
  readonly uid: string
  /** `Kind.group` */
  readonly ownerKind: string
  /** Empty for a cluster-scoped one. */
  readonly namespace: string
}

/** The work after an object was removed. */
export interface DeletedOwner extends FreedOwners, AbsentOwner {}

/** A kind that is served from now on, or in other versions than before. */
export interface ServedKind extends GroupResource {
  readonly kind: string
}

export function objectKeyIn(payload: string): ObjectKey {
  const { group, resource, namespace, name, uid } = textsIn(payload, ['group', 'resource', 'namespace', 'name', 'uid'])
  return { group, resource, namespace, name, uid }
}

/** Work of earlier releases, and that of a kind that is served again, names one object. */
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

/** @throws HopelessWork where one of the members is no text */
function textsIn<Member extends string>(payload: string, members: readonly Member[]): Record<Member, string> {
  const object = parsed(payload)
  const texts = members.map((member): [Member, string] => {
    const text = ownValue(object, member)
    if (typeof text !== 'string') throw new HopelessWork(`${member} is no text in ${payload}`)
    return [member, text]
  })
  // one entry for each of the members
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
    // as below
  }
  throw new HopelessWork(`no JSON object: ${payload}`)
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
