/** AlwaysAdmit and AlwaysDeny, which kube-apiserver keeps for tests. */
import type { AdmissionPlugin, Attributes } from '../attributes.ts'
import { admissionForbidden } from '../forbidden.ts'

export const alwaysAdmit: AdmissionPlugin = {
  name: 'AlwaysAdmit',
  handles: () => true,
  admit() {},
  validate() {},
}

const deny = (attributes: Attributes): never => {
  throw admissionForbidden(attributes, 'admission control is denying all modifications')
}

export const alwaysDeny: AdmissionPlugin = { name: 'AlwaysDeny', handles: () => true, admit: deny, validate: deny }
