/**
 * In which media types a resource is read, written and patched. Built-in resources and custom resources are the two
 * implementations: kube-apiserver serves the first behind go-restful, which compares headers with what an endpoint
 * produces and consumes before the server negotiates, and the second without it.
 */
export interface ResourceForms {
  /** Accept and the type of a patch are matched before they are negotiated: 406 and 415 in go-restful's words. */
  readonly matchesFirst: boolean
  /** Objects themselves; their metadata has protobuf in both. */
  readonly hasProtobuf: boolean
  readonly hasStrategicMergePatch: boolean
  /** Every subresource has a Table; of built-in ones some have none. */
  readonly hasTableAlways: boolean
}

export const builtInForms: ResourceForms = {
  matchesFirst: true,
  hasProtobuf: true,
  hasStrategicMergePatch: true,
  hasTableAlways: false,
}

export const customForms: ResourceForms = {
  matchesFirst: false,
  hasProtobuf: false,
  hasStrategicMergePatch: false,
  hasTableAlways: true,
}
