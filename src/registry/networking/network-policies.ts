import { append } from '../../base/append.ts'
import type { FieldError, FieldPath } from '../../api/field.ts'
import { forbiddenField, invalidValue, notSupported, path, required } from '../../api/field.ts'
import type {
  IPBlock,
  NetworkPolicy,
  NetworkPolicyPeer,
  NetworkPolicyPort,
  NetworkPolicySpec,
} from '../../api/networking/v1.ts'
import { flatMapParts, kept, mapParts } from '../../base/parts.ts'
import { errorsOf } from '../../validation/errors-of.ts'
import { validatePort } from '../../validation/field-rules.ts'
import { cidrWarnings, contains, legacyCidrErrors, parseCidr } from '../../api/ip-addresses.ts'
import { hasInvalidValue, validateLabelSelector } from '../../validation/label-selectors.ts'
import type { SelectorRules } from '../../validation/label-selectors.ts'
import { networkPolicyPrinter } from '../../codec/table/networking.ts'
import { defaultRule } from '../../schema/default-rules.ts'
import type { BuiltInDefinition } from '../built-in-definition.ts'

const spec = path('spec')
const protocols = ['TCP', 'UDP', 'SCTP']
const policyTypes = ['Ingress', 'Egress']

/** An update may keep stored values that a create may not set. */
interface Rules extends SelectorRules {
  readonly existing: ReadonlySet<string>
}

export const networkPolicies: BuiltInDefinition<NetworkPolicy> = {
  defaults: { v1: defaultRule<NetworkPolicy>(applyDefaults) },
  printer: networkPolicyPrinter,
  hasGeneration: true,
  validate: ({ spec: now }) => specErrors(now ?? {}, { existing: new Set() }),
  validateUpdate: ({ spec: now }, old) =>
    specErrors(now ?? {}, {
      existing: new Set(
        eachPeer(old.spec ?? {}).flatMap(({ ipBlock }) =>
          ipBlock === undefined ? [] : [ipBlock.cidr ?? '', ...(ipBlock.except ?? [])],
        ),
      ),
      allowInvalidValues: hasInvalidValue(old.spec?.podSelector ?? {}),
    }),
  countsEmptied: true,
  warningsOnCreate: warnings,
  warningsOnUpdate: warnings,
}

function specErrors(now: NetworkPolicySpec, rules: Rules): FieldError[] {
  const errors = validateLabelSelector(spec.child('podSelector'), now.podSelector ?? {}, rules)
  const ofRules = errorsOf(directions(now), ({ at, ports, peers, peersAt }) => [
    ...errorsOf(ports, (port, index) => portErrors(at.child('ports').index(index), port)),
    ...errorsOf(peers, (peer, index) => peerErrors(peersAt.index(index), peer, rules)),
  ])
  append(errors, ofRules)
  const types = now.policyTypes ?? []
  const at = spec.child('policyTypes')
  if (types.length > 2) return [...errors, invalidValue(at, types, 'may not specify more than two policyTypes')]
  append(
    errors,
    errorsOf(types, (type, index) =>
      !policyTypes.includes(type) ? [notSupported(at.index(index), type, policyTypes)] : [],
    ),
  )
  return errors
}

interface Direction {
  readonly at: FieldPath
  readonly ports: readonly NetworkPolicyPort[]
  readonly peers: readonly NetworkPolicyPeer[]
  readonly peersAt: FieldPath
}

/** Every rule, ingress rules first. */
const directions = (now: NetworkPolicySpec): readonly Direction[] =>
  kept(now, () => {
    const { ingress = [], egress = [] } = now
    const incoming = mapParts(ingress, ({ ports = [], from = [] }, index) => {
      const at = spec.child('ingress').index(index)
      return { at, ports, peers: from, peersAt: at.child('from') }
    })
    const outgoing = mapParts(egress, ({ ports = [], to = [] }, index) => {
      const at = spec.child('egress').index(index)
      return { at, ports, peers: to, peersAt: at.child('to') }
    })
    return [...incoming, ...outgoing]
  })

const eachPeer = (now: NetworkPolicySpec) => directions(now).flatMap(({ peers }) => peers)

function portErrors(at: FieldPath, { protocol, port, endPort }: NetworkPolicyPort): FieldError[] {
  const errors: FieldError[] = []
  const endAt = at.child('endPort')
  if (protocol !== undefined && !protocols.includes(protocol))
    errors.push(notSupported(at.child('protocol'), protocol, protocols))
  if (port === undefined) {
    if (endPort !== undefined)
      errors.push(invalidValue(endAt, endPort, 'may not be specified when `port` is not specified'))
    return errors
  }
  if (typeof port === 'string') {
    if (endPort !== undefined)
      errors.push(invalidValue(endAt, endPort, 'may not be specified when `port` is non-numeric'))
    return [...errors, ...validatePort(at.child('port'), port)]
  }
  append(errors, validatePort(at.child('port'), port))
  if (endPort === undefined) return errors
  // kube-apiserver prints the port here
  if (endPort < port) errors.push(invalidValue(endAt, port, 'must be greater than or equal to `port`'))
  return [...errors, ...validatePort(endAt, endPort)]
}

function peerErrors(at: FieldPath, peer: NetworkPolicyPeer, rules: Rules): FieldError[] {
  const { podSelector, namespaceSelector, ipBlock } = peer
  const selectors = [podSelector, namespaceSelector].filter((selector) => selector !== undefined).length
  const errors = [
    ...validateLabelSelector(at.child('podSelector'), podSelector, rules),
    ...validateLabelSelector(at.child('namespaceSelector'), namespaceSelector, rules),
    ...(ipBlock === undefined ? [] : blockErrors(at.child('ipBlock'), ipBlock, rules)),
  ]
  if (selectors === 0 && ipBlock === undefined) errors.push(required(at, 'must specify a peer'))
  if (selectors > 0 && ipBlock !== undefined)
    errors.push(forbiddenField(at, 'may not specify both ipBlock and another peer'))
  return errors
}

function blockErrors(at: FieldPath, { cidr = '', except = [] }: IPBlock, { existing }: Rules): FieldError[] {
  if (cidr === '') return [required(at.child('cidr'))]
  const errors = legacyCidrErrors(at.child('cidr'), cidr, existing)
  const whole = parseCidr(cidr)
  if (whole === undefined) return errors
  const ofParts = errorsOf(except, (text, index) => {
    const here = at.child('except').index(index)
    const wrong = legacyCidrErrors(here, text, existing)
    const part = parseCidr(text)
    if (part !== undefined && (!contains(whole, part.address) || whole.length >= part.length))
      wrong.push(invalidValue(here, text, 'must be a strict subset of `cidr`'))
    return wrong
  })
  return [...errors, ...ofParts]
}

function warnings({ spec: now }: NetworkPolicy): string[] {
  return flatMapParts(directions(now ?? {}), ({ peers, peersAt }) =>
    flatMapParts(
      peers,
      ({ ipBlock }, place) => {
        if (ipBlock === undefined) return []
        const at = peersAt.index(place)
        return [
          ...cidrWarnings(at.child('ipBlock', 'cidr'), ipBlock.cidr ?? ''),
          ...flatMapParts(
            ipBlock.except ?? [],
            (text, index) => cidrWarnings(at.child('ipBlock', 'except').index(index), text),
            4,
          ),
        ]
      },
      4,
    ),
  )
}

function applyDefaults({ spec }: NetworkPolicy): void {
  if ((spec!.policyTypes ?? []).length > 0) return
  spec!.policyTypes = (spec!.egress ?? []).length > 0 ? ['Ingress', 'Egress'] : ['Ingress']
}
