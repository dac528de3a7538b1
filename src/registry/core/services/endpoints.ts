import { append } from '../../../base/append.ts'
import type { EndpointAddress, EndpointPort, Endpoints, EndpointSubset } from '../../../api/core/v1.ts'
import type { FieldError, FieldPath } from '../../../api/field.ts'
import { notSupported, path, required } from '../../../api/field.ts'
import {
  validateLabelText,
  validatePort,
  validateQualifiedName,
  validateSubdomain,
} from '../../../validation/field-rules.ts'
import { flatMapParts } from '../../../base/parts.ts'
import { errorsOf } from '../../../validation/errors-of.ts'
import { endpointIpErrors, ipWarnings, legacyIpErrors } from '../../../api/ip-addresses.ts'
import { subdomainName } from '../../../validation/names.ts'
import { sameValue } from '../../../validation/same-value.ts'
import { validateObjectMeta } from '../../../validation/object-meta.ts'
import { endpointsPrinter } from '../../../codec/table/core.ts'
import type { BuiltInDefinition } from '../../built-in-definition.ts'
import { endpointsWork } from './service-work.ts'

const MANAGED_BY = 'endpoints.kubernetes.io/managed-by'
const CONTROLLER = 'endpoint-controller'
const protocols = ['SCTP', 'TCP', 'UDP']
const subsetsAt = path('subsets')

export const endpoints: BuiltInDefinition<Endpoints> = {
  printer: endpointsPrinter,
  workloadWork: endpointsWork,
  serverObjects: ['default/kubernetes'],
  mendsServerObjects: true,
  allowCreateOnUpdate: true,
  storagePrefix: 'services/endpoints',
  validate: ({ subsets = [] }) => subsetsErrors(subsets),
  validateUpdate({ subsets = [], metadata }, old) {
    // an update may keep any stored address
    const isSame = sameValue('io.k8s.api.core.v1.Endpoints', { subsets }, { subsets: old.subsets ?? [] })
    return [...validateObjectMeta(metadata, true, subdomainName), ...(isSame ? [] : subsetsErrors(subsets))]
  },
  warningsOnCreate: warnings,
  warningsOnUpdate: warnings,
}

const subsetsErrors = (subsets: readonly EndpointSubset[]): FieldError[] =>
  errorsOf(subsets, ({ addresses = [], notReadyAddresses = [], ports = [] }, index) => {
    const at = subsetsAt.index(index)
    const each = (field: string, list: readonly EndpointAddress[]) =>
      errorsOf(list, (address, place) => addressErrors(at.child(field).index(place), address))
    return [
      ...(addresses.length + notReadyAddresses.length === 0
        ? [required(at, 'must specify `addresses` or `notReadyAddresses`')]
        : []),
      ...each('addresses', addresses),
      ...each('notReadyAddresses', notReadyAddresses),
      ...errorsOf(ports, (port, place) => portErrors(at.child('ports').index(place), port, ports.length > 1)),
    ]
  })

const addressErrors = (at: FieldPath, { ip = '', hostname, nodeName }: EndpointAddress): FieldError[] => [
  ...legacyIpErrors(at.child('ip'), ip),
  ...(hostname ? validateLabelText(at.child('hostname'), hostname) : []),
  ...(nodeName === undefined ? [] : validateSubdomain(at.child('nodeName'), nodeName)),
  ...endpointIpErrors(ip, at.child('ip')),
]

function portErrors(at: FieldPath, port: EndpointPort, isNamed: boolean): FieldError[] {
  const { name, protocol, appProtocol } = port
  const errors = name ? validateLabelText(at.child('name'), name) : isNamed ? [required(at.child('name'))] : []
  append(errors, validatePort(at.child('port'), port.port ?? 0))
  if (!protocol) errors.push(required(at.child('protocol')))
  else if (!protocols.includes(protocol)) errors.push(notSupported(at.child('protocol'), protocol, protocols))
  if (appProtocol !== undefined) append(errors, validateQualifiedName(at.child('appProtocol'), appProtocol))
  return errors
}

function warnings({ metadata, subsets = [] }: Endpoints): string[] {
  if (metadata.labels?.[MANAGED_BY] === CONTROLLER) return []
  return flatMapParts(subsets, ({ addresses = [], notReadyAddresses = [] }, index) => {
    const each = (field: string, list: readonly EndpointAddress[]) =>
      flatMapParts(
        list,
        ({ ip = '' }, place) => ipWarnings(subsetsAt.index(index).child(field).index(place).child('ip'), ip),
        4,
      )
    return [...each('addresses', addresses), ...each('notReadyAddresses', notReadyAddresses)]
  })
}
