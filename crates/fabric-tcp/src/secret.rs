//! The secret that the processes of one run share, and the proofs that they know it.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// Random bytes that are created for one run, known to its processes, and never on a command line or a connection.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret([u8; Secret::BYTES]);

/// A proof that a process knows the secret, which does not reveal it.
pub(crate) type Proof = [u8; PROOF_BYTES];

pub(crate) const PROOF_BYTES: usize = 32;

impl Secret {
    /// Length of a secret.
    pub const BYTES: usize = 32;

    /// Creates a secret from the system's source of random numbers.
    ///
    /// # Errors
    /// Errors of the system.
    pub fn generate() -> std::io::Result<Self> {
        Ok(Secret(random()?))
    }

    /// Creates the secret with these bytes.
    pub const fn from_bytes(bytes: [u8; Secret::BYTES]) -> Self {
        Secret(bytes)
    }

    /// Returns its bytes.
    pub const fn as_bytes(&self) -> &[u8; Secret::BYTES] {
        &self.0
    }

    /// Reads a secret that [`Secret::to_line`] has written. Returns `None` if the line holds something else.
    pub fn from_line(line: &str) -> Option<Self> {
        let digits = line.trim().as_bytes();
        if digits.len() != 2 * Secret::BYTES || !digits.is_ascii() {
            return None;
        }
        let mut bytes = [0; Secret::BYTES];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks(2)) {
            *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
        }
        Some(Secret(bytes))
    }

    /// Returns it as hexadecimal digits, for a pipe or a file that nobody else can read.
    pub fn to_line(&self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Computes HMAC-SHA-256 (RFC 2104) over all parts with this secret.
    pub(crate) fn prove(&self, parts: &[&[u8]]) -> Proof {
        self.over(parts).finalize().into_bytes().into()
    }

    /// Returns whether `proof` is the proof of these parts, in a time that does not depend on their differences.
    pub(crate) fn is_proof(&self, proof: &Proof, parts: &[&[u8]]) -> bool {
        self.over(parts).verify_slice(proof).is_ok()
    }

    fn over(&self, parts: &[&[u8]]) -> Hmac<Sha256> {
        let mut hmac =
            Hmac::<Sha256>::new_from_slice(&self.0).expect("a key of any length will do");
        parts.iter().for_each(|part| hmac.update(part));
        hmac
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(..)")
    }
}

/// Returns unpredictable bytes.
pub(crate) fn random<const BYTES: usize>() -> std::io::Result<[u8; BYTES]> {
    let mut bytes = [0; BYTES];
    let mut filled = 0;
    while filled < BYTES {
        filled +=
            rustix::rand::getrandom(&mut bytes[filled..], rustix::rand::GetRandomFlags::empty())?;
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_survives_a_line_and_nothing_else_is_one() {
        let secret = Secret::generate().unwrap();
        assert_eq!(Secret::from_line(&format!("{}\n", secret.to_line())), Some(secret.clone()));
        for bad in ["", "00", &"zz".repeat(32), &"0".repeat(63), &"é".repeat(32)] {
            assert_eq!(Secret::from_line(bad), None, "{bad}");
        }
        assert_eq!(format!("{secret:?}"), "Secret(..)");
        assert_ne!(Secret::generate().unwrap(), secret);
    }

    /// RFC 4231, test case 2 has a short key; its data with a key of 32 bytes 0x0b gives another value, so the oracle
    /// here is the definition: H((K ^ opad) || H((K ^ ipad) || text)) with a block of 64 bytes.
    #[test]
    fn a_proof_is_hmac_by_its_definition() {
        use sha2::Digest;
        let key = [0x0b; 32];
        let pad = |byte: u8| -> Vec<u8> {
            (0..64).map(|i| byte ^ key.get(i).copied().unwrap_or(0)).collect()
        };
        let inner = Sha256::digest([pad(0x36), b"one two".to_vec()].concat());
        let outer = Sha256::digest([pad(0x5c), inner.to_vec()].concat());
        let secret = Secret::from_bytes(key);
        let proof = secret.prove(&[b"one ", b"two"]);
        assert_eq!(proof[..], outer[..]);
        assert!(secret.is_proof(&proof, &[b"one two"]));
        assert!(!secret.is_proof(&proof, &[b"one twa"]));
    }
}
