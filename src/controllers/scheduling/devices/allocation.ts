/** Makes the allocation in a claim's status from the devices that the search found. */
import { append } from '../../../base/append.ts'
import type { Node, NodeSelector, NodeSelectorRequirement } from '../../../api/core/v1.ts'
import type {
  AllocationResult,
  DeviceAllocationConfiguration,
  DeviceRequestAllocationResult,
} from '../../../api/resource/v1.ts'
import { capacityTexts } from './capacity.ts'
import type { Chosen, Found } from './search.ts'
import type { Wish } from './requests.ts'

export function allocationOf(wish: Wish, found: Found, node: Node): AllocationResult {
  const config = [...classConfig(wish, found), ...claimConfig(wish, found)]
  const nodeSelector = nodeSelectorOf(found.devices, node)
  return {
    devices: { results: found.devices.map(resultOf), ...(config.length === 0 ? {} : { config }) },
    ...(nodeSelector === undefined ? {} : { nodeSelector }),
  }
}

function resultOf({ option, device, share }: Chosen): DeviceRequestAllocationResult {
  const { tolerations = [] } = option.wanted
  const { bindingConditions = [], bindingFailureConditions = [] } = device.device
  return {
    request: option.name,
    driver: device.driver,
    pool: device.slice.spec?.pool?.name ?? '',
    device: device.device.name ?? '',
    ...(option.isAdmin ? { adminAccess: true } : {}),
    ...(tolerations.length === 0 ? {} : { tolerations }),
    ...(bindingConditions.length === 0 ? {} : { bindingConditions, bindingFailureConditions }),
    ...(share === undefined ? {} : { shareID: crypto.randomUUID() }),
    ...(share === undefined || share.size === 0 ? {} : { consumedCapacity: capacityTexts(share) }),
  }
}

/** The configuration of each class once, for all requests that name the class. */
function classConfig({ requests }: Wish, { options }: Found): DeviceAllocationConfiguration[] {
  const byClass = new Map<string, { requests: string[]; config: DeviceAllocationConfiguration[] }>()
  for (const request of requests) {
    const option = options.get(request)
    if (option === undefined) continue
    const { metadata, spec } = option.deviceClass
    const known = byClass.get(metadata.name ?? '')
    if (known !== undefined) {
      known.requests.push(option.name)
      continue
    }
    const names = [option.name]
    const config = (spec?.config ?? []).map((one) => ({ ...one, source: 'FromClass', requests: names }))
    byClass.set(metadata.name ?? '', { requests: names, config })
  }
  return [...byClass.values()].flatMap(({ config }) => config)
}

function claimConfig({ claim, requests }: Wish, { options }: Found): DeviceAllocationConfiguration[] {
  const names = requests.map((request) => [request.name, options.get(request)?.name ?? request.name])
  return (claim.spec?.devices?.config ?? []).flatMap((config): DeviceAllocationConfiguration[] => {
    const from: DeviceAllocationConfiguration = { ...config, source: 'FromClaim' }
    const wanted = config.requests ?? []
    if (wanted.length === 0) return [from]
    // few: the requests of one claim
    return names.flatMap((ofRequest) => (ofRequest.some((name) => wanted.includes(name)) ? [from] : []))
  })
}

/** Undefined: every node reaches the devices. */
function nodeSelectorOf(devices: readonly Chosen[], node: Node): NodeSelector | undefined {
  const fields: NodeSelectorRequirement[] = []
  const expressions: NodeSelectorRequirement[] = []
  for (const { device } of devices) {
    const { spec = {} } = device.slice
    const { nodeName, nodeSelector } = spec.perDeviceNodeSelection === true ? device.device : spec
    if (nodeName !== undefined || device.device.bindsToNode === true) return onlyOn(node)
    const [term] = nodeSelector?.nodeSelectorTerms ?? []
    addNew(fields, term?.matchFields)
    addNew(expressions, term?.matchExpressions)
  }
  if (fields.length === 0 && expressions.length === 0) return undefined
  const matchFields = fields.length === 0 ? {} : { matchFields: fields }
  const matchExpressions = expressions.length === 0 ? {} : { matchExpressions: expressions }
  return { nodeSelectorTerms: [{ ...matchExpressions, ...matchFields }] }
}

const onlyOn = ({ metadata: { name = '' } }: Node): NodeSelector => ({
  nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [name] }] }],
})

function addNew(known: NodeSelectorRequirement[], more: readonly NodeSelectorRequirement[] = []): void {
  const texts = new Set(known.map((requirement) => JSON.stringify(requirement)))
  append(
    known,
    more.filter((requirement) => !texts.has(JSON.stringify(requirement))),
  )
}
