/**
 * Converts kinds of resource.k8s.io between v1beta1 and v1 (the storage version; v1beta2 has the same fields). v1beta1
 * has the fields of a request for one device in the request itself, v1 has them in `exactly`. v1beta1 has a device's
 * properties in `basic`, v1 in the device. A round trip loses only empty values: a v1beta1 device without `basic` comes
 * back with an empty one, and empty lists of a request are gone.
 */
import type * as Old from '../../api/resource/v1beta1.ts'
import type * as V1 from '../../api/resource/v1.ts'
import type { KubeObject } from '../../api/object.ts'

type Kind<T> = T & KubeObject

export const claimFromV1beta1 = (claim: Kind<Old.ResourceClaim>): Kind<V1.ResourceClaim> => ({
  ...claim,
  spec: withRequests(claim.spec, requestFromV1beta1),
})

export const claimToV1beta1 = (claim: Kind<V1.ResourceClaim>): Kind<Old.ResourceClaim> => ({
  ...claim,
  spec: withRequests(claim.spec, requestToV1beta1),
})

export const claimTemplateFromV1beta1 = (
  template: Kind<Old.ResourceClaimTemplate>,
): Kind<V1.ResourceClaimTemplate> => ({
  ...template,
  spec: { ...template.spec, spec: withRequests(template.spec?.spec, requestFromV1beta1) },
})

export const claimTemplateToV1beta1 = (template: Kind<V1.ResourceClaimTemplate>): Kind<Old.ResourceClaimTemplate> => ({
  ...template,
  spec: { ...template.spec, spec: withRequests(template.spec?.spec, requestToV1beta1) },
})

/** Constraints and configuration are the same in both versions. Storage keeps absent requests as null. */
function withRequests<From, To, Devices extends { requests?: From[] }>(
  spec: { devices?: Devices } | undefined,
  convert: (request: From) => To,
): { devices: Omit<Devices, 'requests'> & { requests?: To[] } } {
  const { requests, ...rest } = (spec?.devices ?? {}) as Devices
  return { ...spec, devices: { ...rest, ...(requests ? { requests: requests.map(convert) } : {}) } }
}

const isSet = (value: unknown): boolean => value !== undefined && value !== '' && value !== 0
const isAnySet = (members: object): boolean => Object.values(members).some(isSet)

/**
 * Any field that is set, even an empty list, makes it a request for one device. Validation decides whether it is
 * allowed.
 */
function requestFromV1beta1({ name, firstAvailable, ...exact }: Old.DeviceRequest): V1.DeviceRequest {
  const { tolerations, ...others } = exact
  const exactly = { ...others, ...((tolerations ?? []).length > 0 ? { tolerations } : {}) }
  return withoutAbsent({ name, exactly: isAnySet(exact) ? exactly : undefined, firstAvailable })
}

function requestToV1beta1({ name, exactly, firstAvailable }: V1.DeviceRequest): Old.DeviceRequest {
  // an empty `exactly` becomes an empty list: conversion turns it back into `exactly`, and encoding omits it
  const exact = exactly !== undefined && !isAnySet(exactly) ? { tolerations: [] } : exactly
  return withoutAbsent({ name, ...exact, firstAvailable })
}

export const sliceFromV1beta1 = (slice: Kind<Old.ResourceSlice>): Kind<V1.ResourceSlice> =>
  withDevices(slice, ({ name, basic }: Old.Device): V1.Device => withoutAbsent({ name, ...basic }))

export const sliceToV1beta1 = (slice: Kind<V1.ResourceSlice>): Kind<Old.ResourceSlice> =>
  withDevices(slice, ({ name, ...basic }: V1.Device): Old.Device => withoutAbsent({ name, basic }))

/** In v1beta1 these two fields cannot be absent. Their empty values mean absence. */
function withDevices<From, To, Slice extends { spec?: { nodeName?: string; allNodes?: boolean; devices?: From[] } }>(
  { spec, ...slice }: Slice,
  convert: (device: From) => To,
) {
  const { nodeName, allNodes, devices, ...rest } = (spec ?? {}) as NonNullable<Slice['spec']>
  return {
    ...slice,
    spec: withoutAbsent({
      ...rest,
      nodeName: nodeName || undefined,
      allNodes: allNodes || undefined,
      devices: devices?.map(convert),
    }),
  }
}

/** Deletes undefined members, so that absent fields are no members of the object. */
function withoutAbsent<T extends object>(object: T): T {
  for (const name of Object.keys(object) as (keyof T)[]) if (object[name] === undefined) delete object[name]
  return object
}
