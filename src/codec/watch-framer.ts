/** Events of a watch, framed for the wire: JSON lines, protobuf with lengths, CBOR one after the other. */
import type { JsonObject } from '../api/object.ts'
import type { StatusError } from '../api/status.ts'
import type { EncodedResource } from './encoded-resource.ts'
import { builtInType } from '../schema/built-in.ts'
import { cborWatchEvent } from './cbor-encode.ts'
import { encodeJson } from './encode.ts'
import type { OutputNegotiation } from './negotiate.ts'
import { INITIAL_EVENTS_END, passesText, Presenter, Source } from './present.ts'
import { watchFrame } from './protobuf-envelope.ts'
import { serializeBinary } from './serialize.ts'
import type { BinarySerialization } from './serialize.ts'
import { zeroObject } from './zero-object.ts'

export interface WatchFramer {
  /** Whether a WebSocket gets text messages. */
  readonly isText: boolean
  /** Lines of storage are what this watch sends. */
  readonly passesLines: boolean
  /**
   * May be a walk (api/parts.ts). @param source in the storage version. @throws when there is no such form of it: the
   * watch ends
   */
  event(type: string, source: Source): Uint8Array
  /** UTF-16 units of an object that take as long as the event of one that is so long. */
  weigh(length: number): number
  bookmark(revision: number, initialEventsEnd: boolean): Uint8Array
  error(status: StatusError): Uint8Array
}

/**
 * @param clock milliseconds since 1970
 * @throws StatusError 400 for a wrong `includeObject` where tables are asked for
 */
export function watchFramer(resource: EncodedResource, output: OutputNegotiation, clock: () => number): WatchFramer {
  switch (output.serialization) {
    case 'protobuf':
      return new ProtobufFramer(resource, output, clock)
    case 'cbor':
      return new CborFramer(resource, output, clock)
    default:
      return new JsonFramer(resource, output, clock)
  }
}

abstract class Framer implements WatchFramer {
  abstract readonly isText: boolean
  abstract readonly passesLines: boolean
  protected readonly presenter: Presenter

  constructor(
    protected readonly resource: EncodedResource,
    protected readonly output: OutputNegotiation,
    protected readonly clock: () => number,
  ) {
    this.presenter = new Presenter(resource, output)
  }

  protected abstract frame(type: string, source: Source): Uint8Array
  abstract error(status: StatusError): Uint8Array

  event(type: string, source: Source): Uint8Array {
    return this.checked(type, source)
  }

  weigh(length: number): number {
    return this.presenter.weigh(length)
  }

  /** An object that has a resourceVersion and nothing else. */
  bookmark(revision: number, initialEventsEnd: boolean): Uint8Array {
    const metadata = {
      resourceVersion: String(revision),
      ...(initialEventsEnd ? { annotations: { [INITIAL_EVENTS_END]: 'true' } } : {}),
    }
    return this.checked('BOOKMARK', Source.ofObject(zeroObject(this.resource, metadata)))
  }

  /** kube-apiserver fails at the first event of a watch that asked for lists, and ends it. */
  private checked(type: string, source: Source): Uint8Array {
    this.presenter.checkObject()
    return this.frame(type, source)
  }
}

const encoder = new TextEncoder()

const statusType = () => builtInType('io.k8s.apimachinery.pkg.apis.meta.v1.Status')

class JsonFramer extends Framer {
  readonly isText: boolean = true
  private hasColumns = false

  get passesLines(): boolean {
    return this.output.transform === undefined && passesText(this.resource)
  }

  protected frame(type: string, source: Source): Uint8Array {
    // the first event of a Table carries its columns
    const text = this.presenter.json(source, new Date(this.clock()), !this.hasColumns)
    this.hasColumns = true
    return this.line(type, text)
  }

  error({ status }: StatusError): Uint8Array {
    return this.line('ERROR', encodeJson(statusType(), status as unknown as JsonObject))
  }

  protected line(type: string, object: string): Uint8Array {
    return encoder.encode(`{"type":"${type}","object":${object}}\n`)
  }
}

abstract class BinaryFramer extends Framer {
  readonly isText = false
  readonly passesLines = false
  protected abstract readonly serialization: BinarySerialization
  protected abstract around(type: string, object: Uint8Array): Uint8Array

  protected frame(type: string, source: Source): Uint8Array {
    return this.around(type, this.presenter.bytes(this.serialization, source))
  }

  error({ status }: StatusError): Uint8Array {
    const json = status as unknown as JsonObject
    return this.around('ERROR', serializeBinary(this.serialization, statusType(), json))
  }
}

class ProtobufFramer extends BinaryFramer {
  protected readonly serialization = 'protobuf'

  protected around(type: string, object: Uint8Array): Uint8Array {
    return watchFrame(type, object)
  }
}

class CborFramer extends BinaryFramer {
  protected readonly serialization = 'cbor'

  protected around(type: string, object: Uint8Array): Uint8Array {
    return cborWatchEvent(type, object)
  }
}
