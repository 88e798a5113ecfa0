"""What functions and methods of Python, by their names, do to files and machines."""

from __future__ import annotations

from dense.knowledge.program import words as words_of

READ_CALLS = words_of("""
    read_csv read_json read_excel read_parquet read_table read_pickle read_sql read_html read_fwf loadtxt genfromtxt
    imread listdir scandir walk glob load_workbook load_dataset read_feather read_hdf read_file from_file parse_file
""")
SAVE_CALLS = words_of("""
    savefig to_csv to_json to_excel to_parquet to_pickle to_html to_markdown to_feather to_hdf
    to_latex to_xml to_file to_stata savetxt savez savez_compressed imwrite imsave save_pretrained save_model extractall
    save_weights write_image write_html write_graphml write_gexf write_gml write_gpickle write_csv write_parquet
    write_json write_excel sink_parquet save_file write_png save_as saveas export_text write_video plot_model
""")
"""Methods and functions that write a file; where it is named differs, so the first argument that is a path counts."""
FILE_CLASSES = words_of("open File ZipFile TarFile fdopen NamedTemporaryFile VideoWriter ExcelWriter H5File")
FILE_MODULES = words_of("""
    io gzip bz2 lzma codecs tarfile zipfile h5py Image os builtins pd tempfile wave rasterio fitz pdfplumber aiofiles
    zstandard netCDF4 np cv2
""")
"""Modules whose `open` takes a path, unlike the `open` of a path itself."""
PATH_MAKERS = words_of("Path PurePath PosixPath join str abspath expanduser fspath resolve joinpath")
ARGUMENT_EFFECTS = {
    **dict.fromkeys(words_of("os.remove os.unlink os.rmdir os.removedirs shutil.rmtree"), "delete"),
    **dict.fromkeys(
        words_of("os.mkdir os.makedirs os.mknod os.truncate os.chmod os.chown shutil.make_archive"), "write"
    ),
    **dict.fromkeys(words_of("wavfile.write sf.write soundfile.write imageio.write"), "write"),
    **dict.fromkeys(words_of("np.load numpy.load torch.load joblib.load sqlite3.connect duckdb.connect"), "read"),
    **dict.fromkeys(words_of("os.rename os.replace shutil.move"), "delete write"),
    **dict.fromkeys(
        words_of("shutil.copy shutil.copy2 shutil.copyfile shutil.copytree os.link os.symlink"), "read write"
    ),
    "shutil.unpack_archive": "read write",
}
"""What functions do to the files that their first arguments name."""
METHOD_EFFECTS = {
    **dict.fromkeys(words_of("unlink rmdir remove"), "delete"),
    **dict.fromkeys(words_of("write_text write_bytes mkdir touch chmod symlink_to hardlink_to"), "write"),
    **dict.fromkeys(words_of("read_text read_bytes iterdir rglob"), "read"),
}
"""What methods of a path do to it."""
TEST_CALLS = words_of("unittest.main pytest.main doctest.main doctest.testmod")
ASKERS = words_of("get post put patch delete head request urlopen urlretrieve options Request stream create_connection")
CLIENTS = words_of("requests httpx urllib request session client s urllib3 http aiohttp")
STARTERS = words_of(
    "run Popen call check_call check_output system popen getoutput getstatusoutput create_subprocess_shell"
)
STARTING_MODULES = ("subprocess", "os", "asyncio", "sp", "commands", "")
PATH_KEYWORDS = words_of("path fname filename file path_or_buf fp path_or_buffer save_path output_path uri")
RECORDED = frozenset(
    [
        *(FILE_CLASSES | STARTERS | SAVE_CALLS | READ_CALLS | METHOD_EFFECTS.keys()),
        *(name.rpartition(".")[2] for name in (*ARGUMENT_EFFECTS, *TEST_CALLS)),
        *("save", "export", "dump"),
    ]
)
"""A program that calls none of these, and names no address, does nothing that is recorded."""
