/**
 * The objects of a fresh server that depend on its settings: namespaces and their objects, Service and APIServices.
 */
import { settingsOf } from '../settings.ts'
import { cidrText, familyOf, firstAddress } from '../api/ip-addresses.ts'
import type { ServiceCIDR } from '../api/networking/v1.ts'
import { CONTROLLER_ACCOUNTS } from './controller-accounts.ts'
import type { JsonObject, KubeObject } from '../api/object.ts'
import { REQUEST_HEADERS } from '../request/request-header-names.ts'
import type { Env } from '../env.ts'
import { AUTOMANAGED, ON_START } from '../registry/apiregistration/managed-api-services.ts'
import { builtInServed } from '../registry/served/built-in-served.ts'
import type { Tenant } from '../storage/tenant.ts'
import type { BootstrapObject } from './bootstrap-object.ts'
import { conditionFields } from './policy-objects.ts'

const NAMESPACES = ['default', 'kube-node-lease', 'kube-public', 'kube-system']
const SERVER = 'kube-apiserver'
const IDENTITY_PREFIX = 'apiserver-'
const ROOT_CA_DESCRIPTION =
  'Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.'

export interface ServerFacts {
  readonly env: Env
  readonly now: Date
  /** `apiserver-…`, fixed for the life of the control plane. */
  readonly identity: string
}

/** `apiserver-` and 26 letters and digits, the form of kube-apiserver's own identity. */
export async function serverIdentity({ uid }: Tenant): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(uid)))
  const letters = 'abcdefghijklmnopqrstuvwxyz234567'
  return `${IDENTITY_PREFIX}${[...digest.subarray(0, 26)].map((byte) => letters[byte % 32]).join('')}`
}

/** The objects in the order in which they become visible. */
export function serverObjects(facts: ServerFacts): BootstrapObject[] {
  return [
    ...NAMESPACES.map(namespace),
    ...NAMESPACES.map((name) => serviceAccount(name, 'default')),
    ...CONTROLLER_ACCOUNTS.map((name) => serviceAccount('kube-system', name)),
    ...NAMESPACES.map((name) => rootCa(name, facts.env)),
    authenticationConfigMap(facts.env),
    tokenTracking(facts.now),
    lease(facts),
    ...serviceNetwork(facts),
    ...apiServices(facts),
  ]
}

const always = (): boolean => true

/** A server with two ranges adds the second to a ServiceCIDR of the first. Other ranges stay until they are deleted. */
const gainsFamily =
  (cidrs: readonly string[]) =>
  ({ spec }: ServiceCIDR): boolean =>
    cidrs.length === 2 && spec?.cidrs?.length === 1 && spec.cidrs[0] === cidrs[0]

const object = (apiVersion: string, kind: string, metadata: JsonObject, rest: JsonObject = {}) =>
  ({ kind, apiVersion, metadata, ...rest }) as KubeObject & JsonObject

const namespace = (name: string): BootstrapObject => ({
  resource: 'namespaces',
  manager: SERVER,
  object: object('v1', 'Namespace', { name, labels: { 'kubernetes.io/metadata.name': name } }),
  added: { spec: { finalizers: ['kubernetes'] }, status: { phase: 'Active' } },
  restored: true,
})

const serviceAccount = (namespace: string, name: string): BootstrapObject => ({
  resource: 'serviceaccounts',
  object: object('v1', 'ServiceAccount', { name, namespace }),
})

const rootCa = (namespace: string, env: Env): BootstrapObject => ({
  resource: 'configmaps',
  manager: 'kube-controller-manager',
  object: object(
    'v1',
    'ConfigMap',
    { name: 'kube-root-ca.crt', namespace, annotations: { 'kubernetes.io/description': ROOT_CA_DESCRIPTION } },
    { data: { 'ca.crt': settingsOf(env).rootAuthorities ?? '' } },
  ),
  follows: always,
})

/** The ConfigMap that has the authorities that extension servers trust. */
function authenticationConfigMap(env: Env): BootstrapObject {
  const { clientAuthorities, requestHeaderAuthority } = settingsOf(env)
  const list = (...names: readonly string[]) => JSON.stringify(names)
  const data = {
    ...(clientAuthorities === undefined ? {} : { 'client-ca-file': clientAuthorities }),
    ...(requestHeaderAuthority !== undefined
      ? {
          'requestheader-allowed-names': list(...REQUEST_HEADERS.allowedNames),
          'requestheader-client-ca-file': requestHeaderAuthority,
          'requestheader-extra-headers-prefix': list(REQUEST_HEADERS.extraPrefix),
          'requestheader-group-headers': list(REQUEST_HEADERS.group),
          'requestheader-username-headers': list(REQUEST_HEADERS.username),
        }
      : {}),
  }
  const metadata = { name: 'extension-apiserver-authentication', namespace: 'kube-system' }
  return {
    resource: 'configmaps',
    manager: SERVER,
    object: object('v1', 'ConfigMap', metadata, { data }),
    follows: always,
    restored: true,
  }
}

const tokenTracking = (now: Date): BootstrapObject => ({
  resource: 'configmaps',
  manager: SERVER,
  object: object(
    'v1',
    'ConfigMap',
    { name: 'kube-apiserver-legacy-service-account-token-tracking', namespace: 'kube-system' },
    { data: { since: now.toISOString().slice(0, 10) } },
  ),
  restored: true,
})

/**
 * The identity Lease of this server. The server does not renew it, because nothing here polls. A client that reaches
 * the server needs no Lease to know that it runs.
 */
const lease = ({ env, now, identity }: ServerFacts): BootstrapObject => ({
  resource: 'leases',
  manager: SERVER,
  object: object(
    'coordination.k8s.io/v1',
    'Lease',
    {
      name: identity,
      namespace: 'kube-system',
      labels: { 'apiserver.kubernetes.io/identity': SERVER, 'kubernetes.io/hostname': hostOf(env) },
      annotations: { 'kubernetes.io/peer-advertise-address': settingsOf(env).advertise ?? '' },
    },
    {
      spec: {
        holderIdentity: `${identity}_${crypto.randomUUID()}`,
        leaseDurationSeconds: 3600,
        renewTime: `${now.toISOString().slice(0, -1)}000Z`,
      },
    },
  ),
  restored: true,
})

/** Without the brackets of an address of IPv6. */
const hostOf = (env: Env): string =>
  settingsOf(env)
    .advertise?.replace(/:\d+$/, '')
    .replace(/^\[(.*)\]$/, '$1') ?? 'kedge'
const portOf = (env: Env): number => Number(/:(\d+)$/.exec(settingsOf(env).advertise ?? '')?.[1] ?? 443)

/** Service `kubernetes`, its address and its endpoints. */
function serviceNetwork({ env, now }: ServerFacts): BootstrapObject[] {
  const { serviceRanges } = settingsOf(env)
  const cidrs = serviceRanges.map(cidrText)
  const [first] = serviceRanges
  const clusterIP = first === undefined ? '' : firstAddress(first)
  const { family = 'IPv4' } = first?.address ?? {}
  const port = portOf(env)
  const ready = { type: 'Ready', status: 'True', reason: '', message: 'Kubernetes default Service CIDR is ready' }
  const here = { name: 'kubernetes', namespace: 'default' }
  const host = hostOf(env)
  const addressType = familyOf(host) ?? 'FQDN'
  return [
    {
      resource: 'servicecidrs',
      manager: SERVER,
      restored: true,
      follows: gainsFamily(cidrs),
      object: object('networking.k8s.io/v1', 'ServiceCIDR', { name: 'kubernetes' }, { spec: { cidrs } }),
      added: {
        status: {
          conditions: [
            { type: 'Ready', status: 'True', lastTransitionTime: seconds(now), reason: '', message: ready.message },
          ],
        },
      },
      applied: {
        manager: 'kubernetes-service-cidr-controller',
        subresource: 'status',
        fieldsV1: conditionFields(ready),
      },
    },
    {
      resource: 'ipaddresses',
      manager: SERVER,
      restored: true,
      withService: true,
      object: object(
        'networking.k8s.io/v1',
        'IPAddress',
        {
          name: clusterIP,
          labels: {
            'ipaddress.kubernetes.io/ip-family': family,
            'ipaddress.kubernetes.io/managed-by': 'ipallocator.k8s.io',
          },
        },
        { spec: { parentRef: { resource: 'services', namespace: 'default', name: 'kubernetes' } } },
      ),
    },
    {
      resource: 'services',
      manager: SERVER,
      restored: true,
      withService: true,
      object: object(
        'v1',
        'Service',
        { ...here, labels: { component: 'apiserver', provider: 'kubernetes' } },
        {
          spec: {
            ports: [{ name: 'https', protocol: 'TCP', port: 443, targetPort: port }],
            clusterIP,
            type: 'ClusterIP',
            sessionAffinity: 'None',
            ipFamilyPolicy: 'SingleStack',
            internalTrafficPolicy: 'Cluster',
          },
        },
      ),
      added: { spec: { clusterIPs: [clusterIP], ipFamilies: [family] }, status: { loadBalancer: {} } },
    },
    {
      resource: 'endpoints',
      manager: SERVER,
      follows: always,
      restored: true,
      object: object(
        'v1',
        'Endpoints',
        { ...here, labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' } },
        addressType !== 'FQDN'
          ? { subsets: [{ addresses: [{ ip: host }], ports: [{ name: 'https', port, protocol: 'TCP' }] }] }
          : {},
      ),
    },
    {
      resource: 'endpointslices',
      manager: SERVER,
      follows: always,
      restored: true,
      object: object(
        'discovery.k8s.io/v1',
        'EndpointSlice',
        { ...here, generation: 1, labels: { 'kubernetes.io/service-name': 'kubernetes' } },
        {
          addressType,
          endpoints: [{ addresses: [host], conditions: { ready: true } }],
          ports: [{ name: 'https', protocol: 'TCP', port }],
        },
      ),
    },
  ]
}

const seconds = (time: Date): string => `${time.toISOString().slice(0, 19)}Z`

const AGGREGATOR = 'apiregistration.k8s.io'

/** An APIService for each version of each group that the server serves itself, except the aggregator's own group. */
export function apiServices({ env, now }: Pick<ServerFacts, 'env' | 'now'>): BootstrapObject[] {
  const condition = {
    type: 'Available',
    status: 'True',
    lastTransitionTime: seconds(now),
    reason: 'Local',
    message: 'Local APIServices are always available',
  }
  return builtInServed(env)
    .resources.groups.filter(({ group }) => group !== AGGREGATOR)
    .flatMap(({ group, priority, versions }) =>
      versions.map(({ version, priority: versionPriority }) => ({
        resource: 'apiservices',
        manager: SERVER,
        object: object(
          `${AGGREGATOR}/v1`,
          'APIService',
          { name: `${version}.${group}`, labels: { [AUTOMANAGED]: ON_START } },
          {
            spec: { ...(group === '' ? {} : { group }), version, groupPriorityMinimum: priority, versionPriority },
          },
        ),
        added: { status: { conditions: [condition] } },
      })),
    )
}
