import { withoutSpecAndMetadata } from '../../patch/reset-fields.ts'
import type { FieldError } from '../../api/field.ts'
import { invalidValue, path, required } from '../../api/field.ts'
import type { ServiceCIDR } from '../../api/networking/v1.ts'
import { cidrErrors, parseCidr } from '../../api/ip-addresses.ts'
import { FIELD_IS_IMMUTABLE } from '../../validation/object-meta.ts'
import { serviceCidrPrinter } from '../../codec/table/networking.ts'
import type { BuiltInDefinition } from '../built-in-definition.ts'
import { itself } from '../work/work.ts'
import { keepMetadata } from '../metadata-of-status.ts'
import { sentField } from '../../schema/emptied.ts'
import { errorsOf } from '../../validation/errors-of.ts'

const at = path('spec', 'cidrs')

export const serviceCidrs: BuiltInDefinition<ServiceCIDR> = {
  printer: serviceCidrPrinter,
  resetFields: { status: withoutSpecAndMetadata },
  validate: ({ spec }) => cidrsErrors(spec?.cidrs ?? []),
  validateUpdate({ spec }, old) {
    const cidrs = spec?.cidrs ?? []
    const before = old.spec?.cidrs ?? []
    const changed = errorsOf(before, (cidr, index) =>
      cidr === cidrs[index] ? [] : [invalidValue(at.index(index), cidrs[index] ?? '', FIELD_IS_IMMUTABLE)],
    )
    if (cidrs.length === before.length) return changed
    // an update may add a range of the other family
    if (before.length === 1 && cidrs.length === 2) return [...changed, ...cidrsErrors(cidrs)]
    return [invalidValue(at, spec && sentField(spec, 'cidrs'), FIELD_IS_IMMUTABLE)]
  },
  workloadWork: [itself('service-cidr')],
  serverObjects: ['kubernetes'],
  subresources: {
    status: { prepareForUpdate: ({ metadata }, old) => keepMetadata(metadata, old.metadata) },
  },
}

function cidrsErrors(cidrs: readonly string[]): FieldError[] {
  if (cidrs.length === 0) return [required(at, 'at least one CIDR required')]
  // kube-apiserver prints the whole spec, with the field name of its internal type
  if (cidrs.length > 2) return [invalidValue(at, { CIDRs: cidrs }, 'may only hold up to 2 values')]
  const errors = errorsOf(cidrs, (cidr, index) => cidrErrors(at.index(index), cidr))
  const families = cidrs.map((cidr) => parseCidr(cidr)?.address.family)
  if (families.length === 2 && families[0] !== undefined && families[0] === families[1])
    errors.push(
      invalidValue(
        at,
        cidrs,
        'may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64',
      ),
    )
  return errors
}
