/** The parts of the signature library that Kedge uses: a module of its own, loaded with the first JWT. */
export { SignJWT, compactVerify, decodeJwt, errors, importJWK } from 'jose'
