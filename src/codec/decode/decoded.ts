import type { JsonObject } from '../../api/object.ts'

export interface Decoded {
  readonly object: JsonObject
  /** `unknown field "spec.x"` and `duplicate field "spec.y"`: each once, in the order of the text, 100 at most. */
  readonly strict: readonly string[]
  /** Refuses what kube-apiserver sees only after it has reported the above. @throws StatusError */
  check?(): void
}
