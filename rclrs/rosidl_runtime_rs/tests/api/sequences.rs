//! Sequences with and without a bound.

use super::{assert_same_form, hash};
use ringspin_messages::cdr;
use rosidl_runtime_rs::{
    BoundedSequence, Sequence, SequenceAlloc, SequenceExceedsBoundsError, String, seq,
};

/// Code of an application that is generic over elements.
fn doubled<T: SequenceAlloc>(sequence: &Sequence<T>) -> Sequence<T> {
    sequence.clone().into_iter().chain(sequence.clone()).collect()
}

#[test]
fn sequences_have_the_form_of_vectors() {
    let numbers = vec![1u8, 2, 3];
    assert_same_form(&Sequence::from(numbers.clone()), &numbers);
    assert_same_form(&BoundedSequence::<u8, 3>::try_from(numbers.clone()).unwrap(), &numbers);
    let texts = vec!["a".to_string(), "ß".into()];
    let strings: Sequence<String> = texts.iter().map(|text| text.as_str().into()).collect();
    assert_same_form(&strings, &texts);
    assert_same_form(&Sequence::<Sequence<f64>>::new(2), &vec![Vec::<f64>::new(); 2]);
}

#[test]
fn sequences_are_slices() {
    let mut sequence = Sequence::<i32>::new(3);
    assert_eq!(sequence[..], [0, 0, 0]);
    sequence[1] = 5;
    sequence.as_mut_slice()[2] = 6;
    assert_eq!(sequence.as_slice(), [0, 5, 6]);
    sequence.extend([7]);
    assert_eq!((&sequence, sequence.len()), (&seq![0, 5, 6, 7], 4));
    assert_eq!(format!("{sequence:?}"), "[0, 5, 6, 7]");
    assert_eq!(Vec::from(doubled(&sequence)), [0, 5, 6, 7, 0, 5, 6, 7]);
    assert_eq!(sequence.into_iter().rev().collect::<Vec<_>>(), [7, 6, 5, 0]);
    assert!(Sequence::<String>::default().is_empty() && Sequence::<u8>::from(&[][..]).is_empty());
}

#[test]
fn sequences_are_compared_as_slices() {
    let [a, ab, b] = [&[1][..], &[1, 2], &[2]].map(Sequence::from);
    assert!(a < ab && ab < b && hash(&a) == hash(&[1][..].to_vec()));
    let [a, ab, b] =
        [&[1][..], &[1, 2], &[2]].map(|it| BoundedSequence::<_, 2>::try_from(it).unwrap());
    assert!(a < ab && ab < b && hash(&a) == hash(&a.clone()));
    assert!(seq![f32::NAN] != seq![f32::NAN]);
}

#[test]
fn elements_beyond_the_bound_are_refused_or_left_out() {
    type Few = BoundedSequence<u16, 3>;
    let error: SequenceExceedsBoundsError = Few::try_new(4).unwrap_err();
    assert_eq!((error.len, error.upper_bound), (4, 3));
    assert!(error.to_string().contains("4 elements exceeds the bound 3"), "{error}");
    assert!(Few::try_from(vec![0; 4]).is_err() && Few::try_from(&[0; 4][..]).is_err());
    assert_eq!(Few::try_new(3).unwrap(), Few::new(3));
    let mut few: Few = (1..9).collect();
    assert_eq!(few, seq![3 # 1, 2, 3]);
    assert_eq!(BoundedSequence::<i32, 3>::default(), seq![3 #]);
    few.extend([4]);
    assert_eq!(few.as_slice(), [1, 2, 3]);
    let bytes = cdr::to_bytes(&vec![0u16; 4]).unwrap();
    let error = cdr::from_bytes::<Few>(&bytes).unwrap_err();
    assert!(error.to_string().contains("exceeds the bound 3"), "{error}");
}

#[test]
#[should_panic = "exceeds the bound 2"]
fn new_panics_beyond_the_bound() {
    BoundedSequence::<u8, 2>::new(3);
}
