/**
 * The node authorizer: a kubelet may read its own Node, Lease and CSINode, the pods bound to it, and the objects to
 * which these refer. NodeRestriction (admission) restricts its writes further.
 */
import type { PolicyRule } from '../api/rbac/v1.ts'
import { goQuote } from '../go/quote.ts'
import { groupResourceText } from '../api/group-version.ts'
import { ownValue } from '../base/own.ts'
import type { UserInfo } from '../request/user-info.ts'
import { settingsOf } from '../settings.ts'
import type { ControlPlane } from '../tenancy/control-snapshot.ts'
import type { AuthorizationAttributes } from './attributes.ts'
import { relatesToNode } from './node-relations.ts'
import { ruleAllows } from './policy-rule.ts'
import type { Verdict } from './verdict.ts'
import { ALLOWED, noOpinion } from './verdict.ts'

export const NODES_GROUP = 'system:nodes'
const USER_PREFIX = 'system:node:'

/** Undefined for users that are no node; '' for a node without a name. */
export const nodeOf = ({ name, groups }: UserInfo): string | undefined =>
  name.startsWith(USER_PREFIX) && groups.includes(NODES_GROUP) ? name.slice(USER_PREFIX.length) : undefined

type Ask = (plane: ControlPlane, node: string, asked: AuthorizationAttributes) => Verdict | Promise<Verdict>

export async function nodeAuthorizer(plane: ControlPlane, asked: AuthorizationAttributes): Promise<Verdict> {
  const node = nodeOf(asked.user)
  if (node === undefined) return noOpinion('')
  if (node === '') return noOpinion(`unknown node for user ${goQuote(asked.user.name)}`)
  const ask = asked.isResourceRequest
    ? ownValue(narrowed, groupResourceText({ group: asked.apiGroup, resource: asked.resource }))
    : undefined
  if (ask !== undefined) return ask(plane, node, asked)
  const rules = isOn(plane, 'ClusterTrustBundle') ? [...everyNode, trustBundles] : everyNode
  return rules.some((rule) => ruleAllows(rule, asked)) ? ALLOWED : noOpinion('')
}

const isOn = ({ env }: ControlPlane, gate: string): boolean => settingsOf(env).gates.enabled(gate)

/** The rights of every node. */
const everyNode: readonly PolicyRule[] = [
  { verbs: ['create'], apiGroups: ['authentication.k8s.io'], resources: ['tokenreviews'] },
  {
    verbs: ['create'],
    apiGroups: ['authorization.k8s.io'],
    resources: ['localsubjectaccessreviews', 'subjectaccessreviews'],
  },
  { verbs: ['get', 'list', 'watch'], apiGroups: [''], resources: ['services'] },
  { verbs: ['create', 'patch', 'update'], apiGroups: ['', 'events.k8s.io'], resources: ['events'] },
  { verbs: ['get'], apiGroups: [''], resources: ['endpoints'] },
  {
    verbs: ['create', 'get', 'list', 'watch'],
    apiGroups: ['certificates.k8s.io'],
    resources: ['certificatesigningrequests'],
  },
  { verbs: ['get', 'list', 'watch'], apiGroups: ['storage.k8s.io'], resources: ['csidrivers'] },
  { verbs: ['get', 'list', 'watch'], apiGroups: ['node.k8s.io'], resources: ['runtimeclasses'] },
]

/** A right of every node while the feature gate ClusterTrustBundle is on: volumes may show their certificates. */
const trustBundles: PolicyRule = {
  verbs: ['get', 'list', 'watch'],
  apiGroups: ['certificates.k8s.io'],
  resources: ['clustertrustbundles'],
}

/** Resources of which a node may access only its own part. */
const narrowed: Readonly<Record<string, Ask>> = {
  secrets: read,
  configmaps: read,
  persistentvolumeclaims: (plane, node, asked) =>
    asked.subresource === 'status' ? updateStatus(plane, node, asked) : get(plane, node, asked),
  persistentvolumes: get,
  'resourceclaims.resource.k8s.io': get,
  'volumeattachments.storage.k8s.io': get,
  serviceaccounts: (plane, node, asked) =>
    asked.verb === 'get' && asked.subresource === '' ? getAccount(plane, node, asked) : createToken(plane, node, asked),
  'leases.coordination.k8s.io': lease,
  'csinodes.storage.k8s.io': csiNode,
  'resourceslices.resource.k8s.io': resourceSlice,
  nodes: ownNode,
  pods,
  'podcertificaterequests.certificates.k8s.io': podCertificateRequest,
}

const noRelationship = (node: string): Verdict =>
  noOpinion(`no relationship found between node '${node}' and this object`)

async function related(plane: ControlPlane, node: string, asked: AuthorizationAttributes): Promise<Verdict> {
  if (asked.name === '') return noOpinion('No Object name found')
  return (await relatesToNode(plane, node, asked)) ? ALLOWED : noRelationship(node)
}

function read(plane: ControlPlane, node: string, asked: AuthorizationAttributes): Verdict | Promise<Verdict> {
  if (!['get', 'list', 'watch'].includes(asked.verb)) return noOpinion('can only read resources of this type')
  if (asked.subresource !== '') return noOpinion('cannot read subresource')
  if (asked.namespace === '') return noOpinion('can only read namespaced object of this type')
  return related(plane, node, asked)
}

function get(plane: ControlPlane, node: string, asked: AuthorizationAttributes): Verdict | Promise<Verdict> {
  if (asked.verb !== 'get') return noOpinion('can only get individual resources of this type')
  if (asked.subresource !== '') return noOpinion('cannot get subresource')
  return related(plane, node, asked)
}

function updateStatus(plane: ControlPlane, node: string, asked: AuthorizationAttributes): Verdict | Promise<Verdict> {
  if (asked.verb !== 'update' && asked.verb !== 'patch') return noOpinion('can only get/update/patch this type')
  return related(plane, node, asked)
}

function getAccount(plane: ControlPlane, node: string, asked: AuthorizationAttributes): Verdict | Promise<Verdict> {
  const needsAccounts = ['KubeletServiceAccountTokenForCredentialProviders', 'PodCertificateRequest']
  if (!needsAccounts.some((gate) => isOn(plane, gate))) return noOpinion('not allowed to get service accounts')
  return read(plane, node, asked)
}

async function createToken(plane: ControlPlane, node: string, asked: AuthorizationAttributes): Promise<Verdict> {
  if (asked.verb !== 'create' || asked.name === '')
    return noOpinion('can only create tokens for individual service accounts')
  if (asked.subresource !== 'token') return noOpinion('can only create token subresource of serviceaccount')
  return (await relatesToNode(plane, node, asked)) ? ALLOWED : noRelationship(node)
}

const ownVerbs = ['get', 'create', 'update', 'patch', 'delete']
const NODE_LEASES = 'kube-node-lease'

function lease(_plane: ControlPlane, node: string, { verb, namespace, name }: AuthorizationAttributes): Verdict {
  if (!ownVerbs.includes(verb)) return noOpinion('can only get, create, update, patch, or delete a node lease')
  if (namespace !== NODE_LEASES)
    return noOpinion(`can only access leases in the ${goQuote(NODE_LEASES)} system namespace`)
  // the path of a create has no name, so NodeRestriction checks it
  if (verb !== 'create' && name !== node)
    return noOpinion('can only access node lease with the same name as the requesting node')
  return ALLOWED
}

function csiNode(_plane: ControlPlane, node: string, { verb, subresource, name }: AuthorizationAttributes): Verdict {
  if (!ownVerbs.includes(verb)) return noOpinion('can only get, create, update, patch, or delete a CSINode')
  if (subresource !== '') return noOpinion('cannot authorize CSINode subresources')
  if (verb !== 'create' && name !== node)
    return noOpinion('can only access CSINode with the same name as the requesting node')
  return ALLOWED
}

const selectsNode = ({ fields }: AuthorizationAttributes, node: string): boolean =>
  fields.some(({ field, operator, value }) => field === 'spec.nodeName' && operator === '=' && value === node)

function resourceSlice(plane: ControlPlane, node: string, asked: AuthorizationAttributes): Verdict | Promise<Verdict> {
  if (asked.subresource !== '') return noOpinion('cannot authorize ResourceSlice subresources')
  switch (asked.verb) {
    case 'create':
      return ALLOWED
    case 'get':
    case 'update':
    case 'patch':
    case 'delete':
      return related(plane, node, asked)
    case 'watch':
    case 'list':
    case 'deletecollection':
      return selectsNode(asked, node)
        ? ALLOWED
        : noOpinion('can only list/watch/deletecollection resourceslices with nodeName field selector')
    default:
      return noOpinion(
        'only the following verbs are allowed for a ResourceSlice: get, watch, list, create, update, patch, delete, deletecollection',
      )
  }
}

/** NodeRestriction looks into the requests that a node creates. */
function podCertificateRequest(
  plane: ControlPlane,
  node: string,
  asked: AuthorizationAttributes,
): Verdict | Promise<Verdict> {
  if (!isOn(plane, 'PodCertificateRequest')) return noOpinion('')
  if (asked.subresource !== '')
    return noOpinion('nodes may not access the status subresource of PodCertificateRequests')
  switch (asked.verb) {
    case 'create':
      return ALLOWED
    case 'get':
      return related(plane, node, asked)
    case 'list':
    case 'watch':
      return selectsNode(asked, node)
        ? ALLOWED
        : noOpinion('can only list/watch podcertificaterequests with nodeName field selector')
    default:
      return noOpinion(`nodes may not ${asked.verb} podcertificaterequests`)
  }
}

function ownNode(_plane: ControlPlane, node: string, { verb, subresource, name }: AuthorizationAttributes): Verdict {
  if (subresource === 'status') return verb === 'update' || verb === 'patch' ? ALLOWED : noOpinion('')
  if (subresource !== '') return noOpinion('')
  switch (verb) {
    case 'create':
    case 'update':
    case 'patch':
      return ALLOWED
    case 'get':
    case 'list':
    case 'watch':
      if (name === node) return ALLOWED
      return noOpinion(
        name === ''
          ? `node '${node}' cannot read all nodes, only its own Node object`
          : `node '${node}' cannot read '${name}', only its own Node object`,
      )
    default:
      return noOpinion('')
  }
}

function pods(plane: ControlPlane, node: string, asked: AuthorizationAttributes): Verdict | Promise<Verdict> {
  const { verb, subresource, name } = asked
  switch (subresource) {
    case '':
      break
    case 'status':
      return verb === 'update' || verb === 'patch' ? ALLOWED : noOpinion('')
    case 'eviction':
      return verb === 'create' ? ALLOWED : noOpinion('')
    default:
      return noOpinion('')
  }
  switch (verb) {
    case 'get':
      return get(plane, node, asked)
    case 'list':
    case 'watch':
      if (selectsNode(asked, node)) return ALLOWED
      if (name !== '') return related(plane, node, asked)
      return noOpinion('can only list/watch pods with spec.nodeName field selector')
    case 'create':
    case 'delete':
      return ALLOWED
    default:
      return noOpinion('')
  }
}
