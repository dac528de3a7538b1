import type { Ingress, IngressClass, IPAddress, NetworkPolicy, ServiceCIDR } from '../../api/networking/v1.ts'
import type { EndpointSlice } from '../../api/discovery/v1.ts'
import { groupResourceText } from '../../api/group-version.ts'
import { age, listWithMore, nameOf, printer } from './cells.ts'
import { ingressAddresses } from './core.ts'
import { selectorCell } from './selector-text.ts'

export const ingressPrinter = printer<Ingress>((object, now) => {
  const { spec = {}, status = {} } = object
  return [
    nameOf(object),
    spec.ingressClassName ?? '<none>',
    hostsText(spec.rules),
    ingressAddresses(status.loadBalancer?.ingress).join(','),
    (spec.tls ?? []).length > 0 ? '80, 443' : '80',
    age(object, now),
  ]
})

export const ingressClassPrinter = printer<IngressClass>((object, now) => {
  const { controller = '', parameters } = object.spec ?? {}
  return [
    isDefault(object) ? `${nameOf(object)} (default)` : nameOf(object),
    controller,
    parameters === undefined ? '<none>' : parametersText(parameters),
    age(object, now),
  ]
})

export const networkPolicyPrinter = printer<NetworkPolicy>((object, now) => [
  nameOf(object),
  selectorCell(object.spec?.podSelector),
  age(object, now),
])

export const serviceCidrPrinter = printer<ServiceCIDR>((object, now) => [
  nameOf(object),
  (object.spec?.cidrs ?? []).join(','),
  age(object, now),
])

// kube-apiserver makes a cell for the age, but has no column for it
export const ipAddressPrinter = printer<IPAddress>((object, now) => [
  nameOf(object),
  parentText(object),
  age(object, now),
])

const isDefault = ({ metadata }: IngressClass): boolean =>
  metadata.annotations?.['ingressclass.kubernetes.io/is-default-class'] === 'true'

const parametersText = ({ apiGroup, kind = '', name = '' }: { apiGroup?: string; kind?: string; name?: string }) =>
  `${kind}${apiGroup === undefined ? '' : `.${apiGroup}`}/${name}`

function parentText({ spec = {} }: IPAddress): string {
  const { parentRef } = spec
  if (parentRef === undefined) return '<none>'
  const { group = '', resource = '', namespace = '', name = '' } = parentRef
  const place = namespace === '' ? '' : `/${namespace}`
  return `${groupResourceText({ group, resource }).toLowerCase()}${place}/${name}`
}

const MOST_HOSTS = 3

/**
 * The first three hosts of the rules. The number of further ones counts rules without a host, too, like
 * kube-apiserver's.
 */
function hostsText(rules: readonly { host?: string }[] = []): string {
  const hosts: string[] = []
  let more = false
  for (const { host = '' } of rules) {
    if (hosts.length === MOST_HOSTS) more = true
    else if (host !== '') hosts.push(host)
  }
  if (hosts.length === 0) return '*'
  return more ? `${hosts.join(',')} + ${rules.length - MOST_HOSTS} more...` : hosts.join(',')
}

const MOST = 3

const orUnset = (text: string): string => (text === '' ? '<unset>' : text)

export const endpointSlicePrinter = printer<EndpointSlice>((object, now) => {
  const ports = (object.ports ?? []).map(({ port, name }) => (port === undefined ? (name ?? '*') : String(port)))
  const addresses = (object.endpoints ?? []).flatMap(({ addresses }) => addresses ?? [])
  return [
    nameOf(object),
    object.addressType ?? '',
    orUnset(listWithMore(ports.slice(0, MOST), ports.length, MOST)),
    orUnset(listWithMore(addresses.slice(0, MOST), addresses.length, MOST)),
    age(object, now),
  ]
})
