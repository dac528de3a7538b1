import type { Service } from '../../api/core/v1.ts'
import type { AdmissionPlugin } from '../attributes.ts'
import { admissionForbidden } from '../forbidden.ts'

/**
 * DenyServiceExternalIPs: no Service gets new external IPs, which could be addresses of others (CVE-2020-8554). It
 * may keep the ones that it has.
 */
export const denyServiceExternalIPs: AdmissionPlugin = {
  name: 'DenyServiceExternalIPs',
  handles: ({ operation, resource, subresource }) =>
    (operation === 'CREATE' || operation === 'UPDATE') &&
    resource.group === '' &&
    resource.resource === 'services' &&
    subresource === '',
  validate(attributes) {
    // only Services are written at this path
    const addresses = (service: unknown): readonly string[] => (service as Service | undefined)?.spec?.externalIPs ?? []
    const old = new Set(addresses(attributes.oldObject))
    if (addresses(attributes.object).every((address) => old.has(address))) return
    throw admissionForbidden(attributes, 'Use of external IPs is denied by admission control')
  },
}
