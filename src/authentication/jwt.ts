/** What of the library of signatures is used: a module of its own, loaded with the first token that is one. */
export { SignJWT, compactVerify, decodeJwt, errors, importJWK } from 'jose'
