/**
 * Handles claims of devices (kube-controller-manager's resourceclaim controller): creates claims from templates for
 * pods, removes reservations of finished pods, and deallocates claims without reservations. Keys:
 * registry/resource/claim-work.ts.
 */
import type { Pod } from '../../../api/core/v1.ts'
import type { KubeObject } from '../../../api/object.ts'
import type { ResourceClaim, ResourceClaimConsumerReference } from '../../../api/resource/v1.ts'
import { HopelessWork } from '../../../registry/work/hopeless-work.ts'
import {
  CLAIM_FINALIZER,
  claimNameOf,
  claimNamesOf,
  isPodDone,
  isReservedFor,
  notMadeFor,
  podOfClaim,
} from '../../../registry/resource/pod-claims.ts'
import type { Clientset } from '../../client/clientset.ts'
import { clientsetFor } from '../../client/clientset.ts'
import type { Controller, ControllerContext } from '../../controller.ts'
import { inTurns } from '../../work/in-turns.ts'
import { deleteIfThere } from '../../work/unless-gone.ts'
import { keyParts } from '../key.ts'
import { PODS } from '../pods/pod-control.ts'
import { claimsOfPod, RESOURCE_CLAIMS } from './templates.ts'

type Claim = ResourceClaim & KubeObject
type Look = (namespace: string, name: string, clients: Clientset, context: ControllerContext) => Promise<void>

export const resourceClaimController: Controller = {
  async reconcile(key, context) {
    const colon = key.indexOf(':')
    const look = looks.get(key.slice(0, Math.max(0, colon)))
    if (look === undefined) throw new HopelessWork(`${JSON.stringify(key)} names neither a claim nor who needs one`)
    const [namespace, name] = keyParts(key.slice(colon + 1))
    await look(namespace, name, clientsetFor(context, 'resource-claim-controller'), context)
    return undefined
  },
}

const lookAtPod: Look = async (namespace, name, clients, context) => {
  const pod = await clients.resource(PODS, namespace).get(name)
  if (pod === undefined || pod.metadata.deletionTimestamp !== undefined || isPodDone(pod)) return
  const named = await claimsOfPod(pod, clients, context)
  // the scheduler reserves the claims of a pod that has no node yet
  if (!named.spec?.nodeName) return
  const claims = clients.resource(RESOURCE_CLAIMS, namespace)
  for (const podClaim of named.spec.resourceClaims ?? []) {
    const found = claimNameOf(named, podClaim)
    if (found === 'not made yet' || found.name === undefined) continue
    const claim = await claims.get(found.name)
    if (claim === undefined) return
    if (found.isMade && notMadeFor(named, claim) !== undefined) return
    if (claim.status?.allocation === undefined || isReservedFor(named, claim)) continue
    const reservedFor = [...(claim.status.reservedFor ?? []), consumer(named)]
    await claims.updateStatus({ ...claim, status: { ...claim.status, reservedFor } })
  }
}

export const consumer = ({ metadata: { name = '', uid = '' } }: Pod): ResourceClaimConsumerReference => ({
  resource: 'pods',
  name,
  uid,
})

const lookAtClaim: Look = async (namespace, name, clients) => {
  const claims = clients.resource(RESOURCE_CLAIMS, namespace)
  const claim = await claims.get(name)
  if (claim === undefined) return
  const before = claim.status?.reservedFor ?? []
  const remaining = await stillNeeding(before, namespace, clients)
  const isProtected = claim.metadata.finalizers?.includes(CLAIM_FINALIZER) === true
  if (remaining.length < before.length) await release(claim, remaining, clients)
  else if (isProtected && claim.metadata.deletionTimestamp !== undefined && remaining.length === 0)
    await unprotect(claim.status?.allocation === undefined ? claim : await deallocate(claim, [], clients), clients)
  if (remaining.length > 0) return
  const owner = podOfClaim(claim)
  if (owner === undefined) return
  const pod = await clients.resource(PODS, namespace).get(owner.name ?? '')
  // the garbage collector deletes the claims of a pod that is gone
  if (pod !== undefined && (pod.metadata.uid !== owner.uid || isPodDone(pod))) await deleteIfThere(claims, claim)
}

/** The reservations of pods that may still run, and of all consumers that are no pods. */
async function stillNeeding(
  reservedFor: readonly ResourceClaimConsumerReference[],
  namespace: string,
  clients: Clientset,
): Promise<ResourceClaimConsumerReference[]> {
  const pods = clients.resource(PODS, namespace)
  const over = new Set<ResourceClaimConsumerReference>()
  await inTurns(
    reservedFor,
    async (reserved) => {
      if ((reserved.apiGroup ?? '') !== '' || reserved.resource !== 'pods') return
      const pod = await pods.get(reserved.name ?? '')
      if (pod === undefined || pod.metadata.uid !== reserved.uid || isPodDone(pod)) over.add(reserved)
    },
    clients.budget,
  )
  return reservedFor.filter((reserved) => !over.has(reserved))
}

/** Deallocates a claim without reservations, so that the next pod may get it on another node. */
async function release(claim: Claim, remaining: ResourceClaimConsumerReference[], clients: Clientset): Promise<void> {
  const isProtected = claim.metadata.finalizers?.includes(CLAIM_FINALIZER) === true
  if (remaining.length === 0 && isProtected) return unprotect(await deallocate(claim, remaining, clients), clients)
  await claimsOf(claim, clients).updateStatus({ ...claim, status: { ...claim.status, reservedFor: remaining } })
}

function deallocate(claim: Claim, reservedFor: ResourceClaimConsumerReference[], clients: Clientset): Promise<Claim> {
  const { allocation: _, ...status } = claim.status ?? {}
  return claimsOf(claim, clients).updateStatus({ ...claim, status: { ...status, reservedFor } })
}

async function unprotect(claim: Claim, clients: Clientset): Promise<void> {
  const finalizers = (claim.metadata.finalizers ?? []).filter((finalizer) => finalizer !== CLAIM_FINALIZER)
  await claimsOf(claim, clients).update({ ...claim, metadata: { ...claim.metadata, finalizers } })
}

const claimsOf = ({ metadata }: Claim, clients: Clientset) => clients.resource(RESOURCE_CLAIMS, metadata.namespace)

/** Queues pods that name a claim and have a node, which they may have got without a scheduler. */
const lookAtUsers: Look = async (namespace, name, clients, context) => {
  for await (const pod of clients.resource(PODS, namespace).each({ fieldSelector: 'spec.nodeName!=' }))
    // few: the claims of one pod
    if (claimNamesOf(pod).includes(name) && !isPodDone(pod)) later(pod, context)
}

const lookAtTemplate: Look = async (namespace, name, clients, context) => {
  for await (const pod of clients.resource(PODS, namespace).each())
    if (pod.spec?.resourceClaims?.some((podClaim) => podClaim.resourceClaimTemplateName === name) === true)
      later(pod, context)
}

const later = ({ metadata }: Pod, context: ControllerContext): void =>
  context.later('resource-claim', `pod:${metadata.namespace}/${metadata.name}`, 0)

const looks: ReadonlyMap<string, Look> = new Map([
  ['pod', lookAtPod],
  ['claim', lookAtClaim],
  ['users', lookAtUsers],
  ['template', lookAtTemplate],
])
